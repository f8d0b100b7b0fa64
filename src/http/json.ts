export const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' }

/** Headers of whatever succeeds: clients of version 7.14 and later take a server without the second one for a wrong one. */
export const PRODUCT = { ...JSON_TYPE, 'x-elastic-product': 'Elasticsearch' }

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { ...PRODUCT, ...headers } })
