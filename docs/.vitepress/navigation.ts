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
  page('Authorization servers', '/servers'),
  page('Test your code', '/testing'),
  page('Go to production', '/production'),
  page('Upgrade', '/upgrading'),
  page('What is stable', '/stability'),
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
  page('Command line', '/command-line'),
  page('Variables', '/variables'),
  page('API', '/reference/'),
  page('Glossary', '/words'),
];
const concepts = [
  page('How it works', '/how-it-works'),
  page('The reserve', '/the-reserve'),
  page('What counts', '/what-counts'),
  page('When a request is repeated', '/when-a-request-is-repeated'),
  page('Reliability', '/reliability'),
  page('Performance', '/performance'),
  page('Comparison', '/comparison'),
];
const project = [
  page('Releases', '/releases'),
  page('Security', '/project/security'),
  page('Contributing', '/project/contributing'),
  page('Decisions', '/decisions/'),
];

/** The packages that keep the record. */
const stores = ['cloudflare', 'dynamodb', 'file', 'mysql', 'postgres', 'redis', 'sqlite'];
const tools = ['cli', 'opentelemetry', 'testing'];

/** The groups of pages beside each page. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const packages = readPackages();
  const pagesOf = (isOne: (name: string) => boolean) =>
    packages.filter(({ name }) => isOne(name)).map(({ name, manifest }) => page(manifest.name, `/packages/${name}`));
  const isClient = (name: string) => !stores.includes(name) && !tools.includes(name);
  return [
    { text: 'Start', items: [page('Home', '/'), page('Get started', '/start/')] },
    { text: 'Guides', items: guides },
    { text: 'Clients', items: pagesOf(isClient) },
    { text: 'Stores', items: pagesOf((name) => stores.includes(name)) },
    { text: 'Tools', items: pagesOf((name) => tools.includes(name)) },
    { text: 'Reference', items: reference },
    { text: 'Concepts', items: concepts },
    { text: 'Project', collapsed: true, items: project },
  ];
}

/** The links at the top of each page. */
export function navigation(): DefaultTheme.NavItem[] {
  return [
    page('Get started', '/start/'),
    { text: 'Guides', items: guides },
    { text: 'Reference', items: reference },
    { text: 'Concepts', items: concepts },
    page('Runbook', '/runbook'),
  ];
}
