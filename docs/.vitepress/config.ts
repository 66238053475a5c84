import { defaultClientConditions } from 'vite';
import { defineConfig } from 'vitepress';
import { headingAnchor } from '../../scripts/documents.ts';
import { descriptionOfPage } from './descriptions.ts';
import { adaptPages } from './markdown.ts';
import { navigation, sidebar } from './navigation.ts';
import { writeRedirects } from './redirects.ts';
import { repositoryUrl } from './repository.ts';
import { search } from './search.ts';
import { writeTexts } from './texts.ts';

const description = 'One access token for a whole fleet: 150 tokens a day are enough.';

/** The address of the site. The deploy job knows it. */
const siteUrl = new URL((process.env['SITE_URL'] ?? 'http://localhost:4173').replace(/\/?$/, '/'));

export default defineConfig({
  title: 'Service Auth',
  description,
  lang: 'en',
  base: siteUrl.pathname,
  cleanUrls: true,
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  srcExclude: ['node_modules/**'],
  router: { prefetchLinks: false },
  sitemap: { hostname: siteUrl.href },
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${siteUrl.pathname}icon.svg` }],
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: 'Service Auth' }],
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
    ['meta', { property: 'og:image', content: new URL('card.png', siteUrl).href }],
  ],
  markdown: {
    // The anchors are those of GitHub, so that a link leads to its heading here and there.
    anchor: { slugify: headingAnchor },
    config: adaptPages,
  },
  themeConfig: {
    nav: navigation(),
    sidebar: sidebar(),
    outline: [2, 3],
    // A screen reader reads the words that are shown.
    notFound: { linkLabel: 'Take me home', linkText: 'Take me home' },
    search: { provider: 'local', options: search },
    socialLinks: [{ icon: 'github', link: repositoryUrl }],
    editLink: { pattern: `${repositoryUrl}/edit/main/docs/:path` },
  },
  async transformPageData({ relativePath, filePath, frontmatter }) {
    if (relativePath === '404.md') return {};
    return {
      description:
        frontmatter['description'] ?? (await descriptionOfPage(filePath.includes('[') ? relativePath : filePath)),
    };
  },
  transformHead({ pageData, title, description: said }) {
    const path = pageData.relativePath.replace(/((?<=^|\/)index)?\.md$/, '');
    return [
      ['meta', { property: 'og:title', content: title }],
      ['meta', { property: 'og:description', content: said }],
      ['meta', { property: 'og:url', content: new URL(path, siteUrl).href }],
    ];
  },
  vite: { resolve: { conditions: defaultClientConditions } },
  buildEnd(config) {
    writeTexts(config, siteUrl);
    writeRedirects(config.outDir, config.site.base);
  },
});
