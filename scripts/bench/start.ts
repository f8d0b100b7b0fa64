import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createToken, freePort, startProgram } from './program.ts'
import { overHttp } from './searching.ts'
import { timesOf } from './times.ts'

/**
 * `node scripts/bench/start.ts [--starts 10]` prints how soon the bundle and the executable answer a first search: in an empty folder, where
 * the demo chain is served, and on a store that is there. Each beside `node -e 0`, a process that does nothing.
 */
const USAGE = 'node scripts/bench/start.ts [--starts N] [--program FILE]...'

const DEMO = 'ethereum/demo/local'
/** The newest transfers, as the welcome asks for them. */
const BODY = JSON.stringify({
  query: { bool: { filter: [{ term: { 'event.raw': 'Transfer' } }] } },
  sort: { 'blockNumber.num': 'desc' },
  size: 3,
})

const TOKEN = /^Token: (\S+)$/m

/** From the start of the process to the answer of a search; `token` undefined where the program prints one. */
const startOnce = async (program: string, data: string, token?: string): Promise<number> => {
  const port = await freePort()
  const start = performance.now()
  let found = token
  const onText = (text: string) => {
    found ??= TOKEN.exec(text)?.[1]
  }
  const server = startProgram(program, ['serve', '--data', data, '--port', String(port)], undefined, [], onText)
  let failed: Error | undefined
  server.ended.catch(error => {
    failed = error
  })
  try {
    for (;;) {
      if (failed) throw failed
      if (found !== undefined && (await isAnswered(port, found))) return performance.now() - start
      await sleep(2)
    }
  } finally {
    await server.stop()
  }
}

const isAnswered = async (port: number, token: string): Promise<boolean> => {
  const way = overHttp(`http://127.0.0.1:${port}`, DEMO, token)
  try {
    await way.run({ label: '', entities: 'event', body: BODY })
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== 'ECONNREFUSED') throw error
    return false
  } finally {
    await way.close()
  }
}

const nothing = async (): Promise<number> => {
  const start = performance.now()
  await startProgram(process.execPath, ['-e', '0']).ended
  return performance.now() - start
}

const measure = async (program: string, starts: number, temporary: string) => {
  const stored = join(temporary, 'stored')
  rmSync(stored, { recursive: true, force: true })
  await startOnce(program, stored)
  const token = await createToken(program, stored)
  const [node, empty, kept]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < starts; i++) {
    node.push(await nothing())
    const folder = join(temporary, `empty-${i}`)
    empty.push(await startOnce(program, folder))
    rmSync(folder, { recursive: true, force: true })
    kept.push(await startOnce(program, stored, token))
  }
  return { node: timesOf(node), 'empty folder, demo chain': timesOf(empty), 'stored demo chain': timesOf(kept) }
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      starts: { type: 'string', default: '10' },
      program: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return console.log(USAGE)
  const programs = (values.program ?? ['dist/chainsieve.mjs', 'dist/chainsieve']).filter(path => existsSync(path))
  const temporary = mkdtempSync(join(tmpdir(), 'chainsieve-start-'))
  try {
    for (const program of programs) {
      const measured = await measure(program, Number(values.starts), temporary)
      console.log(program)
      for (const [name, { p50, p99, runs }] of Object.entries(measured))
        console.log(
          `  ${name}: p50 ${p50.toFixed(0)} ms, most ${p99.toFixed(0)} ms, ${(p50 / measured.node.p50).toFixed(2)} times node -e 0, of ${runs} starts`,
        )
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

await main()
