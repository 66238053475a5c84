import { type Route, routes } from '../.vitepress/routes.ts';

const loader: { paths(): Route[] | Promise<Route[]> } = { paths: routes.project };
export default loader;
