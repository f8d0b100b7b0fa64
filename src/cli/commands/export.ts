import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { oneOf, text, toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { collectAtMost } from '../../lib/read.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { command, misused } from '../command.ts'
import { refusing } from '../refusing.ts'
import type { ExportWanted } from '../services.ts'
import { count, showBytes } from '../show.ts'

export const exportHits = command({
  name: 'export',
  usage: 'T/B/N ENTITY[,ENTITY] [JSON|-] | T/B/N --pack',
  summary:
    'Writes all hits of a query in the order of the chain, to a file that the same command continues, or to standard output. --pack writes blocks as import reads them.',
  settings: ['queryDeadline', 'readers', 'limit', 'server', 'token'],
  options: {
    out: setting(text('a file', 'FILE'), undefined, 'File to write or to continue; packed if its name ends with .gz.'),
    format: setting(
      oneOf(['ndjson', 'csv', 'raw-csv', 'parquet']),
      undefined,
      'Format of the hits. The default is that of the name of the file, or ndjson. csv keeps texts of the chain from running as formulas in a spreadsheet; raw-csv leaves them as they are.',
    ),
    pack: setting(toggle, 'false', 'Writes a block pack instead of the hits of a query.'),
  },
  arity: [1, 3],
  run: async ({ services, config, options, args, cwd, streams, log, shutdown, progress, print }) => {
    const [network = '', entities = '', query = '{}'] = args
    const { out, pack } = options
    if (config.server !== undefined && config.token === undefined)
      throw misused('--server needs a token: set CHAINSIEVE_TOKEN, or add --token TOKEN.')
    if (pack && (args.length > 1 || options.format !== undefined))
      throw misused('--pack writes whole blocks: it takes neither an entity nor a query nor --format.')
    if (pack && config.server !== undefined) throw misused('--pack reads a data folder: name it with --data.')
    if (!pack && entities === '') throw misused('Which entity? For example: chainsieve export T/B/N event')
    const format = pack ? 'pack' : (options.format ?? formatOf(out))
    if (format === 'parquet' && out === undefined) throw misused('Parquet needs a file: name it with --out.')
    const write = async (part: Uint8Array) => {
      if (part.length > 0 && !streams.stdout.write(part)) await once(streams.stdout, 'drain')
    }
    const wanted: ExportWanted = {
      ...{ network, entities, format },
      query: (query === '-' ? await readBody(streams.stdin, config.limits) : query).trim() || '{}',
      to: out === undefined ? { write } : { file: resolve(cwd, out) },
    }
    const { hits, added, bytes } = await refusing(() =>
      services.exportHits(config, wanted, { log, shutdown, progress }),
    )
    if (out === undefined) return
    if (config.json) return print(JSON.stringify({ file: out, hits, added, bytes }))
    const what = pack ? 'block' : 'hit'
    print(`${out} has ${count(hits, what)} in ${showBytes(bytes)}; ${count(Math.max(0, added), what)} added.`)
  },
})

const formatOf = (file: string | undefined): 'ndjson' | 'csv' | 'parquet' => {
  const name = (file ?? '').replace(/\.gz$/, '')
  return name.endsWith('.csv') ? 'csv' : name.endsWith('.parquet') ? 'parquet' : 'ndjson'
}

const readBody = async (stdin: Readable, limits: Limits): Promise<string> => {
  const body = await collectAtMost(stdin, limits.body)
  if (!body) throw overLimit('body', limits, 'Standard input')
  return body.toString()
}
