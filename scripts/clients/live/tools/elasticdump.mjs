/** Copies indices to files. */
import { join } from 'node:path'
import { BASE, linesIn, report, runBinary, WORK, withToken } from './report.mjs'

const dump = async (index, type) => {
  const file = join(WORK, `${index}-${type}.json`)
  await runBinary('elasticdump', [
    ...[`--input=${withToken(BASE)}`, `--input-index=${index}`, `--output=${file}`],
    ...[`--type=${type}`, '--limit=1000'],
  ])
  return linesIn(file).map(line => JSON.parse(line))
}
/** Elasticdump writes some answers as text within the JSON. */
const only = ([line]) => (typeof line === 'string' ? JSON.parse(line) : line)

const documents = async index => {
  const lines = await dump(index, 'data')
  return [new Set(lines.map(({ _id }) => _id)).size, lines.filter(line => '_parent' in line).length]
}

await report({
  'documents of tx': () => documents('tx'),
  'documents of event': () => documents('event'),
  mapping: async () => Object.keys(only(await dump('tx', 'mapping')).tx.mappings.properties).includes('blockHash'),
  settings: async () => only(await dump('tx', 'settings')).tx.settings.index,
  alias: async () => Object.keys(only(await dump('tx', 'alias')).tx.aliases),
  index: async () => Object.keys(only(await dump('tx', 'index')).tx),
})
