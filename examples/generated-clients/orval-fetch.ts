// orval with `client: 'fetch'`. The token is added in orval-fetch-mutator.ts, which orval.config.ts names.
import { createOrder, listOrders } from './generated/orval-fetch.ts';

const { data: orders } = await listOrders();
console.log(orders);

const { data: order } = await createOrder({ item: 'tea' });
console.log(order);
