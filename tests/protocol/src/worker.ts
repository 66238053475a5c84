import { type Campaign, type Figures, runCampaign } from './campaign.ts';
import { serve } from './children.ts';
import { modes } from './modes.ts';

serve((campaign: Campaign): Promise<Figures> => runCampaign(campaign, modes[campaign.mode]?.promised === true));
