import { referencePages } from '../.vitepress/reference.ts';

interface Route {
  readonly params: { readonly page: string };
  readonly content: string;
}

const introduction = `# Reference

These pages are made from the doc comments of the sources. Each entry of a package has a page. Begin with [\`createServiceAuth\`](./core.md).`;

export default {
  async paths(): Promise<Route[]> {
    const pages = await referencePages();
    const list = pages
      .map(({ name, specifier, names }) => `- [\`${specifier}\`](./${name}.md): ${names.join(', ')}`)
      .join('\n');
    return [
      { params: { page: 'index' }, content: `${introduction}\n\n${list}\n` },
      ...pages.map(({ name, markdown }) => ({ params: { page: name }, content: markdown })),
    ];
  },
};
