import { readAsPage } from '../.vitepress/repository.ts';

interface Route {
  readonly params: { readonly page: string };
  readonly content: string;
}

export default {
  paths(): Route[] {
    return [
      { params: { page: 'overview' }, content: readAsPage('README.md') },
      { params: { page: 'security' }, content: readAsPage('SECURITY.md') },
      { params: { page: 'contributing' }, content: readAsPage('CONTRIBUTING.md') },
    ];
  },
};
