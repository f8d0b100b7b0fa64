/** A real Elasticsearch 7.17 to compare with, where one runs: its address by the environment, or where ours stands. */
const URL = process.env.ELASTICSEARCH_7 ?? 'http://127.0.0.1:9717'

export interface Elasticsearch {
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  fill(index: string, properties: object, documents: readonly object[]): Promise<void>
  remove(index: string): Promise<void>
}

/** Undefined where none answers: the tests that need it are skipped. */
export const findElasticsearch = async (): Promise<Elasticsearch | undefined> => {
  const ask: Elasticsearch['ask'] = async (method, path, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`${URL}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(text === undefined ? {} : { body: text }),
    })
    return { status: response.status, body: await response.json() }
  }
  try {
    const { body } = await ask('GET', '/')
    if (!(body as { version: { number: string } }).version.number.startsWith('7.17')) return undefined
  } catch {
    return undefined
  }
  return {
    ask,
    async fill(index, properties, documents) {
      await ask('DELETE', `/${index}`)
      await ask('PUT', `/${index}`, { mappings: { properties }, settings: { number_of_replicas: 0 } })
      const lines = documents.flatMap(document => ['{"index":{}}', JSON.stringify(document)])
      const { body } = await ask('POST', `/${index}/_bulk?refresh=true`, `${lines.join('\n')}\n`)
      if ((body as { errors: boolean }).errors) throw new Error(JSON.stringify(body).slice(0, 1000))
    },
    async remove(index) {
      await ask('DELETE', `/${index}`)
    },
  }
}
