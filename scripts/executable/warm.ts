import { spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import * as threads from 'node:worker_threads'

export interface Warming {
  /** The program as one function, of what `given` names. */
  text: string
  /** Where parts of the program are looked for that stand in files of their own. */
  path: string
  /** Files by their names in the executable; undefined of the bundle. */
  assets?: Readonly<Record<string, string>>
}

/**
 * What V8 makes of the program, with the functions that a start and first queries run: it compiles the others when they are first called. Without
 * that, they are half of a start's time.
 */
export const warmCache = (warming: Warming): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-warm-'))
  try {
    const [what, output] = [join(folder, 'what.json'), join(folder, 'cache')]
    writeFileSync(what, JSON.stringify(warming))
    const env = { PATH: process.env.PATH, HOME: folder }
    const options = { encoding: 'utf8', env, timeout: 60_000 } as const
    const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), what, output], options)
    if (status !== 0) throw new Error(`The program did not start for its code cache: ${stderr}`)
    return readFileSync(output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** None answers: the main thread does. */
class NoWorker extends EventEmitter {
  readonly threadId = -1
  postMessage() {}
  ref() {}
  unref() {}
  terminate = () => Promise.resolve(0)
}

const DEMO = 'ethereum/demo/local'
/** What a first user may ask. */
const BODIES: readonly [entities: string, body: object][] = [
  [
    'event',
    {
      query: {
        bool: { filter: [{ term: { 'event.raw': 'Transfer' } }, { range: { 'blockNumber.num': { gte: 1 } } }] },
      },
      sort: { 'blockNumber.num': 'desc' },
      size: 3,
    },
  ],
  ['event', { query: { nested: { path: 'args', query: { term: { 'args.name': 'value' } } } }, size: 1 }],
  ['tx', { query: { query_string: { query: 'status:true' } }, size: 1 }],
  ['log', {}],
  ['block', { sort: 'timestamp', size: 1 }],
  ['call', { size: 1 }],
  ['event', { size: 0, aggs: { names: { terms: { field: 'event.raw' } } } }],
]

const warm = async (what: string, output: string) => {
  const { text, path, assets } = JSON.parse(readFileSync(what, 'utf8')) as Warming
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-warm-data-'))
  const given = createRequire(path)
  const contentOf = (name: string) => {
    const file = assets?.[name]
    if (file === undefined) throw new Error(`there is no asset ${name}`)
    const content = readFileSync(file)
    return content.buffer.slice(content.byteOffset, content.byteOffset + content.length)
  }
  const parts: Record<string, unknown> = {
    'node:worker_threads': { ...threads, Worker: NoWorker },
    ...(assets && { 'node:sea': { getAsset: contentOf, getRawAsset: contentOf, isSea: () => true } }),
  }
  const requirePart = (name: string): unknown => parts[name] ?? given(name)
  const port = await freePort()
  process.argv = [process.execPath, path, 'serve', '--data', data, '--port', String(port)]
  let said = ''
  process.stdout.write = ((chunk: unknown) => {
    said += String(chunk)
    return true
  }) as typeof process.stdout.write
  try {
    const script = new Script(text, { filename: assets ? 'chainsieve' : path })
    const program = script.runInThisContext() as (...given: unknown[]) => void
    if (assets) program(requirePart)
    else program({}, requirePart, { exports: {} }, path, resolve(path, '..'))
    let token: string | undefined
    for (let waited = 0; token === undefined; waited++) {
      if (waited > 1_000) throw new Error(`it does not serve: ${said}`)
      await sleep(10)
      token = /^Token: (\S+)$/m.exec(said)?.[1]
    }
    for (const [entities, body] of BODIES) {
      const answer = await fetch(`http://127.0.0.1:${port}/${DEMO}/es/${entities}/search/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const got = await answer.text()
      if (answer.status !== 200) throw new Error(`${basename(path)} answered ${answer.status}: ${got}`)
    }
    writeFileSync(output, script.createCachedData())
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

if (import.meta.main) {
  try {
    await warm(process.argv[2]!, process.argv[3]!)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`)
    process.exit(1)
  }
}
