import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../src/lib/errors.ts'
import { askIn, inProcess } from './searching.ts'

/** The events and transactions of a store in memory of DuckDB, in plain tables with two threads. */
export interface DuckDb {
  /** Rows of an answer as plain values. */
  rows(sql: string): Promise<unknown[][]>
  close(): void
}

type Source = Record<string, unknown>

/** A text tells why it is skipped. */
export const openDuckDb = async (store: string, network: string, temporary: string): Promise<DuckDb | string> => {
  const loaded = await import('@duckdb/node-api').catch(messageOf)
  if (typeof loaded === 'string') return loaded
  const instance = await loaded.DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson() as unknown[][]
  const paths = { event: join(temporary, 'event.ndjson'), tx: join(temporary, 'tx.ndjson') }
  writeRows(store, network, paths)
  await rows(`CREATE TABLE raw AS SELECT * FROM read_json('${paths.event}', columns = {
    name: 'VARCHAR', address: 'VARCHAR', log: 'INTEGER', tx: 'INTEGER', time: 'BIGINT',
    args: 'STRUCT(name VARCHAR, hex VARCHAR, scaled DOUBLE)[]'})`)
  await rows('CREATE TABLE event AS SELECT * EXCLUDE args FROM raw')
  await rows(`CREATE TABLE argument AS SELECT event, log, one.name, one.hex, one.scaled
    FROM (SELECT name AS event, log, unnest(args) AS one FROM raw)`)
  await rows('DROP TABLE raw')
  await rows(`CREATE TABLE tx AS SELECT * FROM read_json('${paths.tx}', columns = {
    sender: 'VARCHAR', gas: 'BIGINT', place: 'INTEGER', price: 'BIGINT', time: 'BIGINT'})`)
  for (const path of Object.values(paths)) rmSync(path)
  return {
    rows: async sql =>
      (await rows(sql)).map(row => row.map(value => (/^\d+$/.test(`${value}`) ? Number(value) : value))),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** Blocks of one question. */
const BLOCKS = 8

const writeRows = (store: string, network: string, paths: Record<'event' | 'tx', string>) => {
  const own = inProcess(store, network)
  const ask = askIn(own)
  const end = (order: string): number => {
    const { hits } = ask('block', { sort: { 'number.num': order }, size: 1 }).hits
    return numberOf(hits[0]!._source.number)
  }
  for (let from = end('asc'), last = end('desc'); from <= last; from += BLOCKS)
    for (const kind of ['event', 'tx'] as const) {
      const query = { range: { 'blockNumber.num': { gte: from, lt: from + BLOCKS } } }
      const { hits } = ask(kind, { query, size: 10_000 }).hits
      const rows = hits.map(({ _source }) => JSON.stringify(ROW_OF[kind](_source)))
      if (rows.length > 0) appendFileSync(paths[kind], `${rows.join('\n')}\n`)
    }
  void own.close()
}

const numberOf = (value: unknown): number => (value as { num: number }).num
const timeOf = ({ timestamp }: Source): number => Date.parse(timestamp as string)

const ROW_OF = {
  event: (source: Source) => ({
    name: source.event,
    address: source.address,
    log: numberOf(source.logIndex),
    tx: numberOf(source.transactionIndex),
    time: timeOf(source),
    args: (source.args as { name: string; value: { hex: string; scaled: number | null } }[] | null)?.map(
      ({ name, value: { hex, scaled } }) => ({ name, hex, scaled }),
    ),
  }),
  tx: (source: Source) => ({
    sender: source.from,
    gas: numberOf(source.gasUsed),
    place: numberOf(source.transactionIndex),
    price: numberOf(source.gasPrice),
    time: timeOf(source),
  }),
}
