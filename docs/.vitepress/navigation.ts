import type { DefaultTheme } from 'vitepress';
import { readPackages } from '../../tests/support/tools/packages/packages.ts';

interface Page {
  readonly text: string;
  readonly link: string;
}

const page = (text: string, link: string): Page => ({ text, link });

const guides = [
  page('Choose a store', '/choosing-a-store'),
  page('Set your limit', '/set-your-limit'),
  page('Test your code', '/testing'),
  page('Go to production', '/production'),
  page('Upgrade', '/upgrading'),
  page('Serverless and Workers', '/serverless'),
  page('Next.js and other frameworks', '/frameworks'),
  page('Scripts, CI, other languages', '/any-language'),
  page('Migrate', '/migrating'),
  page('Monitor', '/observability'),
  page('Troubleshooting', '/troubleshooting'),
  page('Runbook', '/runbook'),
];
const reference = [
  page('HTTP clients and runtimes', '/http-clients'),
  page('Where did the 150 go?', '/issuance-limits'),
  page('Errors and events', '/errors'),
  page('Authorization servers', '/servers'),
  page('Command line', '/command-line'),
  page('API', '/reference/'),
  page('Words', '/words'),
];
const explanation = [
  page('How it works', '/how-it-works'),
  page('The reserve', '/the-reserve'),
  page('What counts', '/what-counts'),
  page('When a request is repeated', '/when-a-request-is-repeated'),
  page('Reliability', '/reliability'),
  page('Performance', '/performance'),
  page('Comparison', '/comparison'),
];
const project = [
  page('Security', '/project/security'),
  page('Contributing', '/project/contributing'),
  page('Decisions', '/decisions/'),
];

/** The groups of pages beside each page. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const packages = readPackages().map(({ name, manifest }) => page(manifest.name, `/packages/${name}`));
  return [
    {
      text: 'Start',
      items: [page('Live budget', '/'), page('Get started', '/start/'), page('Overview', '/project/overview')],
    },
    { text: 'Guides', items: guides },
    { text: 'Reference', items: reference },
    { text: 'Packages', collapsed: true, items: packages },
    { text: 'Explanation', items: explanation },
    { text: 'Project', collapsed: true, items: project },
  ];
}

/** The links at the top of each page. */
export function navigation(): DefaultTheme.NavItem[] {
  return [
    page('Get started', '/start/'),
    { text: 'Guides', items: guides },
    { text: 'Reference', items: reference },
    { text: 'Explanation', items: explanation },
    page('Runbook', '/runbook'),
  ];
}
