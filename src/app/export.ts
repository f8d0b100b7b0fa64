import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createDefaultParameters } from '../config/chains.ts'
import type { Config } from '../config/index.ts'
import { createBlocks } from '../engine/blocks.ts'
import { readStore } from '../engine/open.ts'
import { createArgumentRows, createCsvRows, createNdjson, type Encoder, gzipped } from '../export/lines.ts'
import { createPack } from '../export/pack.ts'
import type { HitList } from '../export/page.ts'
import { createArgumentParquet, createParquet } from '../export/parquet.ts'
import { begunWith, openTarget } from '../export/resume-journal.ts'
import { type AskPage, pageBody, readExportQuery, runExport, toStream } from '../export/run.ts'
import { createServerAsk } from '../export/server.ts'
import { rawBytesOf } from '../lib/bytes.ts'
import { refuse, stop } from '../lib/errors.ts'
import type { Bars } from '../lib/progress.ts'
import type { Run } from '../lib/shutdown.ts'
import type { WideIntegers } from '../search/columns/argument-values.ts'
import { calledKind, type DeclaredArguments, readDeclared, samplesBody } from '../search/columns/declared.ts'
import { type ArgumentTable, createArgumentTable } from '../search/columns/table.ts'
import { findTarget, networkIndex } from '../search/index-names.ts'
import { checkTable } from '../search/lines.ts'
import { NATIVE_DIALECT, NO_ACCOUNT } from '../search/service.ts'
import { refuseDamaged } from '../sqlite/verify-pages.ts'
import { openPool } from './compose.ts'
import { storeOf } from './stores.ts'

export interface ExportOptions {
  network: string
  /** Unused for a pack. */
  entities: string
  query: string
  format: 'ndjson' | 'csv' | 'raw-csv' | 'parquet' | 'pack'
  /** Whether each argument has a column of its own, and how those show large integers. */
  columns?: WideIntegers | undefined
  /** A file that is continued, or a stream. */
  to: { file: string } | { write(part: Uint8Array): Promise<void> }
}

/** Packs and columns are made of documents as they are, in whatever form the network shows values. */
const PLAIN_FORMS = [
  ['args', 'nested'],
  ['eth', 'false'],
] as const

/** Blocks of a pack that are read at once, with all that is in them. */
const BLOCKS_AT_ONCE = 20

/** Writes all hits of a query, or blocks as a pack. */
export const exportToFile = async (config: Config, wanted: ExportOptions, { shutdown, progress }: Run & Bars) => {
  const { network, format, to } = wanted
  const { ask, networks } = createSearchAsk(config, network, shutdown)
  const plainAsk: AskPage = (entities, body, signal, parameters = [], table = undefined) =>
    ask(entities, body, signal, [...PLAIN_FORMS, ...parameters], table)
  const { entities } = findTarget(network, format === 'pack' ? 'block' : wanted.entities, networks)
  const query = format === 'pack' ? '{}' : wanted.query
  const { encoder, begun, table } = await createEncoding(
    config,
    { ...wanted, entities, query },
    plainAsk,
    shutdown.signal,
  )
  const isPacked = 'file' in to && to.file.endsWith('.gz')
  if (isPacked && format === 'parquet')
    throw refuse('export_format', `${to.file}: Parquet is compressed in itself: name the file without .gz.`)
  const asked = {
    network,
    entities,
    query,
    format,
    from: config.server ? new URL(config.server.reveal()).origin : 'data',
    ...(wanted.columns && { columns: wanted.columns }),
  }
  const target = 'file' in to ? openTarget(to.file, asked, begun) : toStream(to.write)
  const bar = progress(network)
  try {
    const { signal } = shutdown
    const size = format === 'pack' ? { size: BLOCKS_AT_ONCE, most: BLOCKS_AT_ONCE } : {}
    const askTable: AskPage = (entities, body, signal) =>
      plainAsk(entities, body, signal, table && [['_source', table.source.join()]], table)
    return await runExport({
      ...{ ask: table ? askTable : ask, entities, query, target, signal, ...size },
      encoder: isPacked ? gzipped(encoder) : encoder,
      onStep: bar.update,
    })
  } finally {
    bar.finish()
    target.close()
  }
}

const createSearchAsk = (
  config: Config,
  network: string,
  shutdown: Run['shutdown'],
): { ask: AskPage; networks: readonly string[] } => {
  const { server, token } = config
  if (server !== undefined && token !== undefined)
    return {
      ask: createServerAsk({ server: server.reveal(), token: token.reveal(), network }),
      networks: [network],
    }
  // Threads would take more than they save where pages are read and written in turn.
  const pool = openPool(config, shutdown, undefined, Number.POSITIVE_INFINITY)
  const defaults = createDefaultParameters(config.networks)(network)
  return {
    networks: pool.networks(network),
    async ask(entities, body, signal, parameters = [], table = undefined) {
      const { status, body: answer } = await pool.search({
        ...{ network, entities, body: Buffer.from(body), account: NO_ACCOUNT, signal },
        parameters: [...defaults, ...parameters],
        dialect: { ...NATIVE_DIALECT, rows: table?.rows },
      })
      const text = answer instanceof Uint8Array ? rawBytesOf(answer) : await buffer(answer as unknown as Readable)
      if (status >= 400) throw stop('search_failed', `the search answers ${status}: ${text.toString().slice(0, 500)}`)
      return text
    },
  }
}

interface ExportEncoding {
  encoder: Encoder<HitList>
  /** What a later run has to continue with. */
  begun?: unknown
  /** The columns that it writes; by default, documents as they are. */
  table?: ArgumentTable
}

const createEncoding = async (
  config: Config,
  wanted: ExportOptions,
  ask: AskPage,
  signal: AbortSignal,
): Promise<ExportEncoding> => {
  const { network, entities, query, format, columns, to } = wanted
  const { limits } = config
  if (format === 'pack') return { encoder: createPack({ ask, chainId: chainIdOf(config.data, network), limits }) }
  const request = readExportQuery(query, { index: networkIndex(network), entities, format, limits })
  if (columns) {
    checkTable(request)
    const begun = 'file' in to ? (begunWith(to.file) as DeclaredArguments | undefined) : undefined
    const declared = begun ?? (await askDeclared(entities, query, ask, signal))
    const table = createArgumentTable(declared, request.source, columns)
    const encoder = format === 'parquet' ? createArgumentParquet(table) : createArgumentRows(table, format)
    return { encoder, begun: declared, table }
  }
  if (format === 'csv' || format === 'raw-csv')
    return { encoder: createCsvRows(request, { raw: format === 'raw-csv' }) }
  return { encoder: format === 'parquet' ? createParquet(request) : createNdjson() }
}

const askDeclared = async (entities: string, query: string, ask: AskPage, signal: AbortSignal) => {
  const kind = calledKind(entities)
  const answer = await ask(entities, pageBody(query, samplesBody(kind)), signal)
  return readDeclared(kind, answer.toString())
}

/** Read before the first block: what a pack holds is a store's content without its checksums. */
const chainIdOf = (data: string, network: string): number | undefined => {
  const store = storeOf(data, network)
  refuseDamaged(store)
  return readStore(store, db => createBlocks(db).chainId())
}
