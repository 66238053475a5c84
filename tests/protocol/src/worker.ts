import { type Campaign, type Figures, runCampaign } from './campaign.ts';
import { serve } from './children.ts';
import { isPromised } from './modes.ts';

serve((campaign: Campaign): Promise<Figures> => runCampaign(campaign, isPromised(campaign.mode)));
