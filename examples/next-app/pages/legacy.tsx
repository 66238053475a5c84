import type { GetServerSideProps } from 'next';
import { listOrders, type Order } from '../lib/orders';

export const getServerSideProps: GetServerSideProps<{ orders: Order[] }> = async () => ({
  props: { orders: await listOrders() },
});

export default function Page({ orders }: { orders: Order[] }) {
  return <p>{orders.map(({ item }) => item).join(', ')}</p>;
}
