// orval with `client: 'axios-functions'`. The token is added in orval-axios-mutator.ts, which orval.config.ts names.
import { createOrder, listOrders } from './generated/orval-axios.ts';

console.log(await listOrders());
console.log(await createOrder({ item: 'tea' }));
