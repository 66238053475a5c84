import { orders } from '../../auth.js';

export default async function handler(_, response) {
  response.end(await orders('legacy-api'));
}
