import type { DefaultTheme } from 'vitepress';
import { readPackages } from '../../scripts/packages.ts';

type Item = DefaultTheme.SidebarItem;

const page = (text: string, link: string): Item => ({ text, link });

/** The groups of pages beside each page. */
export function sidebar(): Item[] {
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
    {
      text: 'Topics',
      items: [
        page('Choosing a store', '/choosing-a-store'),
        page('HTTP clients', '/http-clients'),
        page('Errors and events', '/errors'),
        page('Issuance limits', '/issuance-limits'),
      ],
    },
    {
      text: 'Operating',
      items: [
        page('Command line', '/command-line'),
        page('Observability', '/observability'),
        page('Runbook', '/runbook'),
      ],
    },
    {
      text: 'Evidence',
      items: [
        page('Security', '/project/security'),
        page('Reliability', '/reliability'),
        page('Chaos', '/chaos'),
        page('Mutation testing', '/mutation-testing'),
        page('Performance', '/performance'),
        page('Comparison', '/comparison'),
        page('Decisions', '/decisions/'),
        page('Contributing', '/project/contributing'),
      ],
    },
    { text: 'Packages', collapsed: true, items: [...packages, page('Reference', '/reference/')] },
  ];
}

/** The links at the top of each page. */
export function navigation(): DefaultTheme.NavItem[] {
  return [
    { text: 'Start', link: '/start/' },
    { text: 'Guide', link: '/how-it-works' },
    { text: 'Stores', link: '/choosing-a-store' },
    { text: 'HTTP clients', link: '/http-clients' },
    { text: 'Errors', link: '/errors' },
    {
      text: 'Operating',
      items: [
        { text: 'Limits', link: '/issuance-limits' },
        { text: 'Command line', link: '/command-line' },
        { text: 'Observability', link: '/observability' },
        { text: 'Runbook', link: '/runbook' },
      ],
    },
    {
      text: 'Evidence',
      items: [
        { text: 'Security', link: '/project/security' },
        { text: 'Reliability', link: '/reliability' },
        { text: 'Performance', link: '/performance' },
        { text: 'Comparison', link: '/comparison' },
        { text: 'Decisions', link: '/decisions/' },
      ],
    },
    { text: 'Reference', link: '/reference/' },
  ];
}
