import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { storeFile } from '../../src/engine/files.ts'
import type { Server } from '../e2e/program.ts'

export const NETWORK = 'ethereum/test/net'
/** Nobody listens there. */
export const CLOSED = 'http://127.0.0.1:9'

/** A data folder that an earlier version wrote, and what that version answered from it. */
export interface Fixture {
  /** Versions of the network's store, the accounts and the deliveries. */
  versions: number[]
  token: string
  /** By the path that was asked. */
  answers: Record<string, unknown>
  files: ReadonlyMap<string, Buffer>
}

/** As `Fixture.versions`. */
export const versionsIn = (data: string): number[] =>
  [storeFile(data, NETWORK), join(data, 'accounts.sqlite'), join(data, 'deliveries.sqlite')].map(path => {
    const db = new Database(path)
    const version = db.pragma('user_version', { simple: true }) as number
    db.close()
    return version
  })

const pathOf = (layout: number) => new URL(`layout-${layout}.zst`, import.meta.url)

export const layouts = (): number[] =>
  readdirSync(new URL('.', import.meta.url))
    .flatMap(name => /^layout-(\d+)\.zst$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)

/** A line of JSON, and the files one after another. */
export const writeFixture = (layout: number, { files, ...rest }: Fixture) => {
  const sizes = [...files].map(([name, { length }]) => [name, length])
  const all = Buffer.concat([Buffer.from(`${JSON.stringify({ ...rest, sizes })}\n`), ...files.values()])
  const params = { [constants.ZSTD_c_compressionLevel]: 22, [constants.ZSTD_c_windowLog]: 24 }
  writeFileSync(pathOf(layout), zstdCompressSync(all, { params }))
}

export const readFixture = (layout: number): Fixture => {
  const all = zstdDecompressSync(readFileSync(pathOf(layout)))
  let at = all.indexOf('\n') + 1
  const { sizes, ...rest } = JSON.parse(all.toString('utf8', 0, at)) as Omit<Fixture, 'files'> & {
    sizes: [string, number][]
  }
  const files = new Map<string, Buffer>()
  for (const [name, size] of sizes) {
    files.set(name, all.subarray(at, at + size))
    at += size
  }
  return { ...rest, files }
}

export const unpack = (data: string, { files }: Fixture) => {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(data, name)), { recursive: true })
    writeFileSync(join(data, name), content, { mode: 0o600 })
  }
}

export const alertsOf = (rule: number) => `/alerting/rules/${rule}/alerts/?size=1000`

/** All documents, rules and alerts, with what was sent. */
export const answersOf = async ({ ask }: Pick<Server, 'ask'>): Promise<Record<string, unknown>> => {
  const kinds = ['block', 'tx', 'log', 'event', 'call', 'trace', 'contract', 'token']
  const asked: [path: string, body?: object][] = [
    ...kinds.map((kind): [string, object] => [`/${NETWORK}/es/${kind}/search/`, { size: 1000 }]),
    ...['/alerting/rules/', alertsOf(1), alertsOf(2)].map((path): [string] => [path]),
  ]
  const answers = asked.map(async ([path, content]) => {
    const { status, body } = await ask(path, content)
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return [path, inOrder(body)]
  })
  return Object.fromEntries(await Promise.all(answers))
}

/** Lists by id, whose order may differ, without what is another at each time. */
const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const { took, failing, idle, warnings, ...rest } = value as Record<string, unknown>
  return Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, LISTS.has(key) ? inOrder(one) : one]))
}

const LISTS = new Set(['hits', 'alerts', 'deliveries'])
const idOf = (value: unknown): string => {
  const { _id, id } = value as { _id?: unknown; id?: unknown }
  return String(_id ?? id)
}
