/** Copies an index into a real Elasticsearch. */
import { randomBytes } from 'node:crypto'
import { BASE, ELASTICSEARCH, report, runBinary, withToken } from './report.mjs'

const index = `chainsieve-clients-${randomBytes(6).toString('hex')}`
const ask = async (method, path) => {
  const reply = await fetch(`${ELASTICSEARCH}/${index}${path}`, { method })
  return reply.json()
}
const copy = async type => {
  await runBinary('elasticdump', [
    ...[`--input=${withToken(BASE)}`, '--input-index=tx', `--output=${ELASTICSEARCH}`, `--output-index=${index}`],
    ...[`--type=${type}`, '--limit=1000'],
  ])
}

await report({
  'index, with mapping and settings': async () => {
    await copy('index')
    return (await ask('GET', '/_mapping'))[index].mappings.properties.timestamp
  },
  'documents that arrive': async () => {
    await copy('data')
    await ask('POST', '/_refresh')
    return (await ask('GET', '/_count')).count
  },
  removed: async () => (await ask('DELETE', '')).acknowledged,
})
