// The types of the API in these recipes, as `npx openapi-typescript openapi.json -o shop.ts` writes them.

export interface Order {
  id: number;
  item: string;
}

export interface paths {
  '/api/v1/orders': {
    get: { responses: { 200: { content: { 'application/json': Order[] } } } };
    post: {
      requestBody: { content: { 'application/json': { item: string } } };
      responses: { 201: { content: { 'application/json': Order } } };
    };
  };
}
