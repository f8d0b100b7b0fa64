import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken, freePort, until } from '../../lib/program.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import { createLiveChain } from '../chain.ts'
import { createSoaked, type Soaked } from '../server.ts'
import { startChainNode } from '../soak.ts'
import { questionsOf, startClients } from './clients.ts'
import { compareServers } from './compare.ts'
import { courseOf, haveFaults, isGreen, type Nodes, removeIndices } from './nodes.ts'

const NETWORK = 'ethereum/soak/cluster'
const FIRST_BLOCK = 22_600_000
/** Blocks that are there before anything is killed; no reorganisation reaches them. */
const DEEP = 10
const TRANSACTIONS = 12
const BLOCK_MS = 500
const REORGANISE_MS = 2_500
const DEEPEST = 8
const ALLOWED_MS = 5_000
const START_MS = 120_000
const SETTLE_MS = 240_000

interface ClusterSoakOptions {
  program: string
  urls: readonly string[]
  seed: number
  milliseconds: number
  kills: number
  nodes: Nodes | undefined
  note(text: string): void
}

export interface ClusterSoak {
  findings: string[]
  counts: Record<string, number>
}

export const soakCluster = async (options: ClusterSoakOptions): Promise<ClusterSoak> => {
  const { program, urls, seed, milliseconds, nodes, note } = options
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-soak-cluster-'))
  const prefix = `soak-${seed}-${Date.now().toString(36)}`
  const cleanUps: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })]
  cleanUps.push(() => removeIndices(urls, prefix))
  const findings: string[] = []
  const counts = { blocks: 0, reorganisations: 0, kills: 0, nodeKills: 0, nodeHangs: 0 }
  /** Each of what happens has its own, so that it does not depend on the others. */
  const randomOf = (what: number): Random => {
    const random = createRandom()
    random.seek(seed, 2, 1, what)
    return random
  }
  try {
    const chain = createLiveChain(FIRST_BLOCK, seed, TRANSACTIONS)
    chain.grow(DEEP + DEEPEST)
    const node = await startChainNode(chain, cleanUps)
    const serverOf = async (name: string, own: readonly string[]): Promise<Soaked> => {
      const data = join(folder, name)
      mkdirSync(data)
      const args = ['--data', data, '--network', NETWORK, '--rpc', node.url, '--from', String(FIRST_BLOCK), ...own]
      const token = await createToken(program, data, 'soak')
      const server = createSoaked(program, token, await freePort(), [...args, '--poll-interval', '200ms'])
      cleanUps.push(() => server.stop())
      return server
    }
    await until(() => isGreen(urls), SETTLE_MS, 'all nodes of the cluster')
    const server = await serverOf('cluster', [
      ...['--store', 'opensearch', '--opensearch-prefix', prefix, '--opensearch-replicas', '1'],
      ...urls.flatMap(url => ['--opensearch-url', url]),
    ])
    await server.start()
    await until(() => isShipped(server, chain.tip()), START_MS, 'the first blocks')
    await until(() => isGreen(urls), SETTLE_MS, 'a green cluster')

    let isOver = false
    const goesOn = () => !isOver
    const clients = await startClients(server, NETWORK, questionsOf(FIRST_BLOCK, FIRST_BLOCK + DEEP - 1), goesOn)
    note('begins')
    const end = Date.now() + milliseconds
    const every = async (ms: number, random: Random, work: () => unknown) => {
      while (Date.now() < end) {
        await sleep(Math.min(ms * (0.5 + random.unit()), Math.max(0, end - Date.now())))
        if (Date.now() < end) await work()
      }
    }
    const depths = randomOf(4)
    await Promise.all([
      every(BLOCK_MS, randomOf(2), () => void chain.grow(1)),
      every(REORGANISE_MS, randomOf(3), () => {
        counts.reorganisations++
        chain.reorganise(1 + depths.below(DEEPEST))
      }),
      every(milliseconds / (options.kills + 0.5), randomOf(5), async () => {
        if (counts.kills >= options.kills) return
        counts.kills++
        note('kills the program')
        await server.kill()
        await server.start()
      }),
      nodes &&
        haveFaults({ nodes, count: urls.length, course: courseOf(seed), random: randomOf(6), chain, counts, note }),
    ])
    note('waits for what is under way')
    await until(() => isShipped(server, chain.tip()), SETTLE_MS, 'the last blocks')
    isOver = true
    await clients.ended
    findings.push(...clients.findings)
    for (const [why, times] of clients.reasons) note(`${times} times: ${why}`)
    if (clients.counts.longestFailureMs > ALLOWED_MS)
      findings.push(`searches failed for ${clients.counts.longestFailureMs} ms at a time`)

    note('compares all documents with those of a store')
    const whole = await serverOf('store', [])
    await whole.start()
    await until(() => isShipped(whole, chain.tip()), SETTLE_MS, 'the blocks of the store')
    const compared = await compareServers(server, whole, NETWORK, FIRST_BLOCK, chain.tip())
    findings.push(...compared.findings)
    counts.blocks = chain.tip() - FIRST_BLOCK
    note('ends')
    return { findings, counts: { ...counts, documents: compared.documents, ...clients.counts } }
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
}

/**
 * True, or what the server says. A search shows the newest block, and none is left to ship: those of the head go before others. A store of SQLite
 * shows what it has.
 */
const isShipped = async (server: Soaked, tip: number): Promise<true | string> => {
  const answer = await server
    .ask(`/${NETWORK}/es/block/search`, { query: { term: { 'number.num': tip } }, size: 0 })
    .catch(() => undefined)
  const { hits } = JSON.parse((await answer?.text()) || '{}') as { hits?: { total: number } }
  const status = (await server.status())?.networks[0]
  if (status?.state === 'stopped') throw new Error(`the network stopped: ${status.error}`)
  const isThere = hits?.total === 1 && status?.lag === 0 && (status.shipping?.blocksLeft ?? 0) === 0
  return isThere || JSON.stringify(status ?? 'the server does not answer')
}
