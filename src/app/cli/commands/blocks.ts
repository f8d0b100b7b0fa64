import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createDefaultParameters } from '../../../config/chains.ts'
import { choiceKind, textKind, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { collectAtMost } from '../../../lib/files.ts'
import { type Limits, overLimit } from '../../../limits/index.ts'
import { findTarget, networksNamed } from '../../../search/index-names.ts'
import { NO_ACCOUNT } from '../../../search/service.ts'
import type { ExportOptions } from '../../export.ts'
import {
  CLUSTER_SETTINGS,
  command,
  commandNetwork,
  exitCodeOf,
  misused,
  NODE_SETTINGS,
  refusing,
  SCOPE_SETTINGS,
} from '../command.ts'
import { formatCount, formatSize, formatSummary } from '../format.ts'

export const indexCommand = command({
  name: 'index',
  usage: '--network T/B/N --rpc URL [--contract ADDRESS] [--event EVENT] [--from N|latest-K] [--to N] [options]',
  summary: 'Indexes a range of blocks and exits. The same command continues where it stopped.',
  settings: [...NODE_SETTINGS, ...SCOPE_SETTINGS, ...CLUSTER_SETTINGS, 'indexers', 'limit'],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, progress, print }) => {
    const network = commandNetwork(config)
    if (network.rpc.length === 0) throw misused(`Where is a node of ${network.network}? Add --rpc URL.`)
    const shown = progress(network.network)
    const summary = await services.index(config, network, { log, shutdown, progress: shown }).finally(shown.finish)
    print(formatSummary(network.network, summary, config.json))
    return exitCodeOf(summary, { shutdown, log })
  },
})

export const importCommand = command({
  name: 'import',
  usage: '--network T/B/N FILE|FOLDER…',
  summary:
    'Imports block packs (NDJSON, plain or .gz, with one {"chainId","block","receipts"} per line), era1 files, and folders of Parquet files that cryo wrote.',
  settings: ['network', 'storeBatch', ...CLUSTER_SETTINGS, 'indexers', 'limit'],
  options: {},
  audited: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: async ({ services, config, args, log, shutdown, progress, print }) => {
    const { network } = commandNetwork(config)
    const shown = progress(network)
    const run = { log, shutdown, progress: shown }
    const summary = await services.importPacks(config, network, args, run).finally(shown.finish)
    print(formatSummary(network, summary, config.json))
    return exitCodeOf(summary, { shutdown, log })
  },
})

export const exportCommand = command({
  name: 'export',
  usage: 'T/B/N ENTITY[,ENTITY] [JSON|-] | T/B/N --pack',
  summary:
    'Writes all hits of a query in the order of the chain, to a file that the same command continues, or to standard output. --pack writes blocks as import reads them.',
  settings: ['queryDeadline', 'readers', 'limit', 'server', 'token'],
  options: {
    out: setting(
      textKind('a file', 'FILE'),
      undefined,
      'File to write or to continue; packed if its name ends with .gz.',
    ),
    format: setting(
      choiceKind(['ndjson', 'csv', 'raw-csv', 'parquet']),
      undefined,
      'Format of the hits. The default is that of the name of the file, or ndjson. csv keeps texts of the chain from running as formulas in a spreadsheet; raw-csv leaves them as they are.',
    ),
    args: setting(
      choiceKind(['list', 'columns']),
      'list',
      'How arguments are written. columns gives each argument of the one event or method that the query selects a column of its own type.',
    ),
    integers: setting(
      choiceKind(['text', 'decimal']),
      'text',
      'With --args columns, how integers of 64 bits and more are written. decimal has 38 digits in Parquet.',
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
    const format = pack ? 'pack' : (options.format ?? fileFormat(out))
    if (format === 'parquet' && out === undefined) throw misused('Parquet needs a file: name it with --out.')
    const columns = options.args === 'columns' ? options.integers : undefined
    if (!columns && options.integers === 'decimal') throw misused('--integers needs --args columns: add it.')
    if (columns && pack) throw misused('--pack writes whole blocks: it takes no --args.')
    const write = async (part: Uint8Array) => {
      if (part.length > 0 && !streams.stdout.write(part)) await once(streams.stdout, 'drain')
    }
    const wanted: ExportOptions = {
      ...{ network, entities, format, columns },
      query: (query === '-' ? await readBody(streams.stdin, config.limits) : query).trim() || '{}',
      to: out === undefined ? { write } : { file: resolve(cwd, out) },
    }
    const { hits, added, bytes } = await refusing(() =>
      services.exportHits(config, wanted, { log, shutdown, progress }),
    )
    if (out === undefined) return
    if (config.json) return print(JSON.stringify({ file: out, hits, added, bytes }))
    const what = pack ? 'block' : 'hit'
    print(
      `${out} has ${formatCount(hits, what)} in ${formatSize(bytes)}; ${formatCount(Math.max(0, added), what)} added.`,
    )
  },
})

const fileFormat = (file: string | undefined): 'ndjson' | 'csv' | 'parquet' => {
  const name = (file ?? '').replace(/\.gz$/, '')
  return name.endsWith('.csv') ? 'csv' : name.endsWith('.parquet') ? 'parquet' : 'ndjson'
}

const readBody = async (stdin: Readable, limits: Limits): Promise<string> => {
  const body = await collectAtMost(stdin, limits.body)
  if (!body) throw overLimit('body', limits, 'Standard input')
  return body.toString()
}

export const searchCommand = command({
  name: 'search',
  usage: 'T/B/N ENTITY[,ENTITY] [JSON|-]',
  summary:
    'Runs the same query as POST …/es/<entity>/search/. With -, reads it from standard input. Separate several networks by commas.',
  settings: ['queryDeadline', 'readers', 'limit'],
  options: {},
  arity: [2, 3],
  run: async ({ services, config, args: [network = '', entities = '', query], streams, log, shutdown }) => {
    const service = await services.openSearch(config, { log, shutdown })
    const target = await refusing(() =>
      findTarget(networksNamed(network, service.networks), entities, service.networks()),
    )
    const body =
      query === '-'
        ? await readQuery(streams.stdin, config.limits)
        : query === undefined
          ? undefined
          : Buffer.from(query)
    const parameters = createDefaultParameters(config.networks)(target.network)
    const { status, body: answer } = await refusing(() =>
      service.search({ ...target, body, parameters, account: NO_ACCOUNT, signal: shutdown.signal }),
    )
    // Only the answer may reach the program that reads it.
    if (status >= 400) {
      streams.stderr.write(`${Buffer.from(await readAnswer(answer)).toString()}\n`)
      return status < 500 ? 2 : 1
    }
    await copy(answer, streams.stdout)
    streams.stdout.write('\n')
    return 0
  },
})

const readQuery = async (stdin: Readable, limits: Limits): Promise<Buffer> => {
  const body = await collectAtMost(stdin, limits.body)
  if (!body) throw overLimit('body', limits, 'Standard input')
  return body
}

const readAnswer = async (answer: Uint8Array | ReadableStream<Uint8Array>): Promise<Uint8Array> =>
  answer instanceof ReadableStream ? buffer(answer as unknown as Readable) : answer

/** No faster than the reader takes it. */
const copy = async (answer: Uint8Array | ReadableStream<Uint8Array>, out: Writable) => {
  for await (const chunk of answer instanceof ReadableStream ? answer : [answer]) {
    if (!out.write(chunk)) await once(out, 'drain')
  }
}
