import { orders } from '../auth.js';

export async function getServerSideProps() {
  return { props: { shown: await orders('legacy') } };
}

export default function Page({ shown }) {
  return <p>{shown}</p>;
}
