import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual, promisify } from 'node:util'
import { byDefault, PROGRAM, readFlags, runMain, SEVERAL, SWITCH, TEXT } from '../../lib/flags.ts'
import { createToken, freePort, startServer } from '../../lib/program.ts'
import { demoInCluster } from '../in-cluster.ts'
import { CLIENTS, type Client } from './clients.ts'
import { EXPECTED } from './expected.ts'
import { type Installed, install } from './install.ts'
import { TOOLS } from './tools.ts'

/** Runs unmodified clients and tools of Elasticsearch and OpenSearch against a server with the demo chain, and compares what they got. */
const USAGE = `npm run clients -- [--only TEXT]... [--short] [--seconds N] [--program FILE] [--against URL] [--elasticsearch URL]

--only           clients whose name has this in it, such as java; may be repeated
--short          one of each kind that installs within seconds
--seconds        clients whose turn comes later are skipped
--program        what they ask (default dist/chainsieve.mjs)
--against        an OpenSearch that documents lie in (default: they lie in SQLite)
--elasticsearch  an Elasticsearch 7.17 to copy into, in an index that is removed again (default: ELASTICSEARCH_7)`

interface Line {
  call: string
  value?: unknown
  error?: string
}

const main = async (): Promise<boolean> => {
  const values = readFlags(USAGE, {
    ...{ only: SEVERAL, short: SWITCH, seconds: byDefault('3600'), program: PROGRAM, against: TEXT },
    elasticsearch: TEXT,
  })
  const { program } = values
  const wanted = [...CLIENTS, ...TOOLS].filter(
    ({ name, short }) => (!values.short || short) && (values.only?.some(part => name.includes(part)) ?? true),
  )
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-clients-'))
  const inCluster = values.against === undefined ? undefined : demoInCluster(values.against)
  const args = inCluster?.args ?? []
  if (inCluster)
    await promisify(execFile)(process.execPath, [program, 'import', ...args, '--data', data, inCluster.pack])
  const root = `127.0.0.1:${await freePort()}`
  const listening = ['--port', '0', '--es-listen', `${root}=ethereum/demo/local`]
  const server = await startServer(program, [...args, '--data', data, ...listening])
  let faults = 0
  try {
    const token = await createToken(program, data)
    const elasticsearch = await findReference(values.elasticsearch ?? process.env.ELASTICSEARCH_7)
    const env = {
      ...{ BASE: `${server.url}/ethereum/demo/local/es`, TOKEN: token, TX, ROOT: `http://${root}` },
      ...{ NODE: process.execPath, PROGRAM: resolve(program) },
      ADMIN_TOKEN: await createToken(program, data, 'bench', ['search', 'admin']),
      ...(elasticsearch !== undefined && { ELASTICSEARCH: elasticsearch }),
    }
    const end = performance.now() + Number(values.seconds) * 1000
    for (const client of wanted) faults += await tryClient(client, env, end - performance.now())
  } finally {
    await server.stop()
    rmSync(data, { recursive: true, force: true })
    await inCluster?.remove()
  }
  return faults === 0
}

/** The address if an Elasticsearch 7.17 answers there. */
const findReference = async (url: string | undefined): Promise<string | undefined> => {
  if (url === undefined) return undefined
  const { version } = (await (await fetch(url)).json()) as { version?: { number?: string } }
  if (version?.number?.startsWith('7.17.')) return url
  throw new Error(`${url} is no Elasticsearch 7.17`)
}

const TX = '0xe392582d53f21650a6a0007f736ec46019afbc5be36791a2853d460a3cc6ccf5'

const tryClient = async (client: Client, env: Record<string, string>, leftMs: number): Promise<number> => {
  let installed: Installed
  try {
    if (leftMs < 0) throw new Error('the time is over')
    if (client.unavailable !== undefined) throw new Error(client.unavailable)
    if (client.needsElasticsearch && !env.ELASTICSEARCH)
      throw new Error('no Elasticsearch 7.17 to copy into: name one by --elasticsearch or ELASTICSEARCH_7')
    installed = await install(client, leftMs)
  } catch (error) {
    console.log(`${client.name}: skipped: ${String((error as Error).message).split('\n')[0]}`)
    return 0
  }
  const work = mkdtempSync(join(tmpdir(), 'chainsieve-tool-'))
  const lines = await callsOf(installed, { ...env, WORK: work })
  rmSync(work, { recursive: true, force: true })
  const { expected } = client
  const expectedOf = (call: string) => (expected ? expected[call] : EXPECTED.get(call))
  const faults = lines.flatMap(line => faultOf(line, expectedOf(line.call)) ?? [])
  if (lines.length === 0) faults.push('made no call')
  else
    for (const call of Object.keys(expected ?? {}))
      if (!lines.some(line => line.call === call)) faults.push(`${call}: was not made`)
  console.log(`${client.name}: ${lines.length - faults.length} of ${lines.length} calls`)
  for (const fault of faults) console.log(`  ${fault}`)
  return faults.length
}

const callsOf = async ({ command, args, cwd, env: own }: Installed, env: Record<string, string>): Promise<Line[]> => {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env, ...own }, timeout: 120_000 })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  const lines = out.split('\n').filter(line => line.startsWith('{'))
  if (lines.length === 0) console.log(err.slice(-2_000))
  return lines.map(line => JSON.parse(line) as Line)
}

const faultOf = ({ call, value, error }: Line, expected: unknown): string | undefined => {
  if (error !== undefined) return `${call}: failed: ${error}`
  if (isDeepStrictEqual(value, expected)) return undefined
  return `${call}: got ${JSON.stringify(value)} instead of ${JSON.stringify(expected)}`
}

runMain(main)
