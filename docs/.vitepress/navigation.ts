import type { DefaultTheme } from 'vitepress';
import { readPackages } from '../../tests/support/tools/packages/packages.ts';

interface Page {
  readonly text: string;
  readonly link: string;
}

const page = (text: string, link: string): Page => ({ text, link });

const topics = [
  page('Choosing a store', '/choosing-a-store'),
  page('HTTP clients', '/http-clients'),
  page('Errors and events', '/errors'),
  page('Issuance limits', '/issuance-limits'),
  page('Authorization servers', '/servers'),
];
const operating = [
  page('Command line', '/command-line'),
  page('Observability', '/observability'),
  page('Runbook', '/runbook'),
];
const evidence = [
  page('Security', '/project/security'),
  page('Reliability', '/reliability'),
  page('Chaos', '/chaos'),
  page('Mutation testing', '/mutation-testing'),
  page('Performance', '/performance'),
  page('Comparison', '/comparison'),
  page('Decisions', '/decisions/'),
  page('Contributing', '/project/contributing'),
];

/** The groups of pages beside each page. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const packages = readPackages().map(({ name, manifest }) => page(manifest.name, `/packages/${name}`));
  return [
    {
      text: 'Start in five minutes',
      collapsed: true,
      items: [
        page('By who you are', '/start/'),
        page('axios', '/start/axios'),
        page('got', '/start/got'),
        page('fetch or ky', '/start/fetch'),
        page('undici', '/start/undici'),
        page('NestJS', '/start/nestjs'),
        page('Next.js', '/start/next'),
        page('Your own stack', '/start/own-stack'),
        page('AWS Lambda', '/start/lambda'),
        page('Cloudflare Workers', '/start/workers'),
        page('On call', '/start/on-call'),
        page('Another language', '/start/another-language'),
      ],
    },
    {
      text: 'Guide',
      items: [
        page('The live budget', '/'),
        page('The problem', '/the-problem'),
        page('Overview', '/project/overview'),
        page('How it works', '/how-it-works'),
        page('Recipes', '/recipes'),
        page('Migrating', '/migrating'),
        page('Frameworks', '/frameworks'),
        page('Runtimes', '/runtimes'),
        page('Serverless', '/serverless'),
        page('Kubernetes', '/kubernetes'),
        page('Pipelines', '/pipelines'),
        page('Any language', '/any-language'),
      ],
    },
    { text: 'Topics', items: topics },
    { text: 'Operating', items: operating },
    { text: 'Evidence', items: evidence },
    { text: 'Packages', collapsed: true, items: [...packages, page('Reference', '/reference/')] },
  ];
}

/** The links at the top of each page. */
export function navigation(): DefaultTheme.NavItem[] {
  return [
    page('Get started', '/start/'),
    page('Guide', '/how-it-works'),
    { text: 'Topics', items: topics },
    { text: 'Operating', items: operating },
    { text: 'Evidence', items: evidence },
    page('Reference', '/reference/'),
  ];
}
