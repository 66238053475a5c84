import { readPackages } from '../../tests/support/tools/packages/packages.ts';
import { readAsPage } from '../.vitepress/repository.ts';

interface Route {
  readonly params: { readonly page: string };
  readonly content: string;
}

export default {
  paths(): Route[] {
    return readPackages().map(({ name }) => ({
      params: { page: name },
      content: readAsPage(`packages/${name}/README.md`),
    }));
  },
};
