'use server';

import { refresh } from 'next/cache';
import { createOrder } from '../lib/orders';

export async function order(form: FormData): Promise<void> {
  await createOrder(String(form.get('item')));
  refresh();
}
