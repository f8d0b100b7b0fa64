import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, serve, start, succeed } from '../../test/e2e/program.ts'
import { readFlags, SEVERAL, SWITCH, TEXT } from '../lib/flags.ts'
import { demoInCluster } from './in-cluster.ts'
import { RECORDINGS, readRecordings } from './recordings.ts'
import { type Outcome, replayBodies, replayClients, replayPanels, type Server, send } from './replay.ts'

const USAGE = `Sends what unmodified clients sent to Elasticsearch, and tells what is answered otherwise.

npm run clients:replay -- [--url URL --token TOKEN] [--against URL] [--only NAME]… [--quiet]

--url      a server with the demo chain (default: one that is started)
--against  an OpenSearch that documents lie in (default: they lie in SQLite)
--only     this client alone, or "bodies" or "grafana"; may be repeated
--quiet    the table alone, without what differs`

type Test = Parameters<typeof start>[0]

export const startDemoInCluster = async (t: Test, url: string): Promise<Server> => {
  const { args, pack, remove } = demoInCluster(url)
  after(t, remove)
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-clients-'))
  after(t, () => rmSync(data, { recursive: true, force: true }))
  await succeed(t, ['import', ...args, pack], { data })
  const { url: own, token } = await serve(t, data, [...args])
  return { url: own, token }
}

/** A server with the demo chain, once all of it is indexed. */
export const startDemo = async (t: Test): Promise<Server> => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-clients-'))
  after(t, () => rmSync(data, { recursive: true, force: true }))
  const program = start(t, ['serve', '--port', '0'], { data })
  const [, url = ''] = await program.says(/Serves +url=(\S+)/)
  const token = await eventually(() => /Token: (cs_\S+)/.exec(program.out())?.[1])
  const server = { url, token }
  await eventually(async () => ((await blocks(server)) === DEMO_BLOCKS ? true : undefined))
  return server
}

const DEMO_BLOCKS = 421

const blocks = async (server: Server): Promise<number> => {
  const path = '/ethereum/demo/local/es/block/search?size=0'
  const { text } = await send(server, { method: 'POST', path, headers: {}, body: '' })
  return (JSON.parse(text) as { hits?: { total: number } }).hits?.total ?? 0
}

const eventually = async <T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < 600; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('the demo chain was not indexed within a minute')
}

/** For each client: calls, those that Elasticsearch answers, and those of them that are accepted here. */
export const summary = (
  outcomes: readonly Outcome[],
): Map<string, { calls: number; reference: number; here: number; all: number }> => {
  const rows = new Map<string, { calls: number; reference: number; here: number; all: number }>()
  for (const { client, reference, fault } of outcomes) {
    const row = rows.get(client) ?? { calls: 0, reference: 0, here: 0, all: 0 }
    row.calls++
    if (reference) row.reference++
    if (reference && fault === undefined) row.here++
    if (fault === undefined) row.all++
    rows.set(client, row)
  }
  return rows
}

const main = async () => {
  const values = readFlags(USAGE, { url: TEXT, token: TEXT, against: TEXT, only: SEVERAL, quiet: SWITCH })
  const recordings = readRecordings()
  if (!recordings) return console.log(`There are no recordings at ${RECORDINGS}: set CLIENT_RECORDINGS.`)
  const cleanups: (() => unknown)[] = []
  const t = { after: (fn: () => unknown) => void cleanups.push(fn) }
  const server = values.url
    ? { url: values.url, token: values.token ?? '' }
    : await (values.against ? startDemoInCluster(t, values.against) : startDemo(t))
  try {
    const wanted = (name: string) => !values.only || values.only.includes(name)
    const outcomes = [
      ...(await replayClients(server, { calls: recordings.calls.filter(({ client }) => wanted(client)) })),
      ...(wanted('bodies') ? await replayBodies(server, recordings) : []),
      ...(await replayPanels(server, { panels: recordings.panels.filter(({ client }) => wanted(client)) })),
    ]
    if (!values.quiet)
      for (const { client, call, fault } of outcomes)
        if (fault !== undefined) console.log(`${client}  ${call}\n    ${fault}`)
    console.table(
      Object.fromEntries(
        Array.from(summary(outcomes), ([client, { calls, reference, here, all }]) => [
          client,
          { calls, 'ES answers': reference, 'of these here': here, 'same in all': all },
        ]),
      ),
    )
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

if (import.meta.main) await main()
