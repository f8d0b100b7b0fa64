import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent } from 'undici'
import { messageOf } from '../../src/lib/errors.ts'
import { startNode } from '../../test/support/node.ts'
import { makeChain } from '../../test/support/pack.ts'
import { startProgram } from '../lib/program.ts'
import { type Attack, brief, type Finding, pick } from './attack.ts'
import { type Branches, createBranches, type Entity, type Told } from './branches.ts'
import { pause, type Victim } from './server.ts'

const TRIES = 300
const BLOCKS = 360
const READERS = 4
const NETWORK = 'ethereum/attack/chain'
/** Stands beside it in searches of several networks, and does not change. */
const STILL = 'ethereum/attack/still'
const STILL_BLOCKS = 30
const ENTITIES: readonly Entity[] = ['block', 'tx', 'log']
const PAGE = 100
const ADOPTED_MS = 60_000

/** A head that is reorganised at random while all is read in every way: what is complete is one state of the chain. */
export const reorganisations: Attack = {
  name: 'reorganisations',
  is: 'a head that is reorganised at random, under every way of reading: complete answers are one state of the chain',
  async run({ serve, tries, random, folder, program }) {
    const cleanUps: (() => Promise<void>)[] = []
    const branches = createBranches(BLOCKS)
    const node = await startNode({ after: fn => void cleanUps.push(fn) }, branches.chain())
    for (const method of ['eth_call', 'eth_getCode', 'eth_getStorageAt']) node.methods.set(method, () => '0x')
    const still = join(folder, 'still.ndjson')
    writeFileSync(
      still,
      makeChain({ blocks: STILL_BLOCKS })
        .map(raw => JSON.stringify(raw))
        .join('\n'),
    )
    const source = ['--rpc', node.url, '--ws', node.wsUrl, '--from', '0']
    const victim = await serve({ packs: { [STILL]: still }, args: ['--network', NETWORK, ...source] })
    const client = createClient(victim)
    const findings: Finding[] = []
    const outcomes = new Map<string, { whole: number; ended: Map<string, number> }>()
    const follower = createFollower(client)
    let [worstMs, made, goesOn] = [0, 0, true]

    const adopted = async () => {
      const end = performance.now() + ADOPTED_MS
      const tip = branches.chain().at(-1)!.block.hash
      while (victim.alive() && performance.now() < end) {
        const { text } = await client.post(`${NETWORK}/es/block/search`, { size: 1, sort: { 'number.num': 'desc' } })
        if (text.includes(tip) && JSON.parse(text).hits.total === branches.chain().length) return true
        await pause(5)
      }
      return false
    }
    const read = async (name: string, about: string, run: () => Promise<string | undefined>) => {
      const [start, attempt] = [performance.now(), made]
      const counts = outcomes.get(name) ?? { whole: 0, ended: new Map<string, number>() }
      outcomes.set(name, counts)
      try {
        const why = await run()
        counts.whole++
        if (why !== undefined)
          findings.push({ what: `${name}: not one state of the chain`, how: `${about}: ${why}`, attempt })
      } catch (error) {
        if (!(error instanceof Ended)) throw error
        counts.ended.set(error.message, (counts.ended.get(error.message) ?? 0) + 1)
        // It says why, and that another try may do.
        if (/^5/.test(error.message) && !error.message.includes('reorganised'))
          findings.push({ what: `${name}: a 5xx`, how: error.message, attempt })
      }
      worstMs = Math.max(worstMs, performance.now() - start)
    }
    const reader = async (number: number) => {
      const dice = random(-1 - number)
      while (goesOn && victim.alive()) {
        const [way, entity] = [pick(dice, WAYS), pick(dice, ENTITIES)]
        await read(way.name, entity, () => way.read(client, entity, branches))
      }
    }
    const exporter = async () => {
      for (let i = 0; goesOn && victim.alive(); i++) await exportTo(join(folder, `${i % 2}.ndjson`))
    }
    const exportTo = (file: string) =>
      read('an export', 'tx', async () => {
        const args = ['--server', victim.url, '--token', victim.tokens[0], '--out', file]
        const running = startProgram(program, ['export', NETWORK, 'tx', ...args])
        await running.ended.catch(error => {
          throw new Ended(brief(messageOf(error), 300))
        })
        const lines = linesOf(readFileSync(file, 'utf8'))
        return branches.fault(
          'tx',
          lines.map(line => toldOf(JSON.parse(line))),
        )
      })

    try {
      if (!(await adopted())) throw new Error('the chain is not indexed')
      const working = [...Array.from({ length: READERS }, (_, i) => reader(i)), follower.run(() => goesOn), exporter()]
      for (const attempt of tries(TRIES)) {
        const dice = random(attempt)
        node.extend(branches.reorganise(dice))
        node.announce()
        if (!(await adopted())) findings.push({ what: 'a reorganisation is not followed', how: `${attempt}`, attempt })
        await pause(dice.below(60))
        made++
      }
      goesOn = false
      await Promise.all(working)
      await Promise.all([follower.run(() => false), exportTo(join(folder, '0.ndjson'))])
      const why = follower.fault() ?? branches.fault('tx', follower.documents())
      if (why !== undefined) findings.push({ what: 'a reader that follows by resume is led astray', how: why })
      for (const way of WAYS)
        if (made > FEW && (outcomes.get(way.name)?.whole ?? 0) === 0)
          findings.push({ what: 'a way of reading never comes to an end', how: way.name })
      const notes = [...outcomes].map(([name, { whole, ended }]) =>
        [`${name}: ${whole} whole`, ...Array.from(ended, ([why, count]) => `${count} ended by ${why}`)].join(', '),
      )
      return { tries: made, findings, worstMs, notes }
    } finally {
      goesOn = false
      await client.close()
      for (const cleanUp of cleanUps) await cleanUp()
    }
  },
}

const FEW = 50

/** A reading that came to no end, and said so. */
class Ended extends Error {}

interface Way {
  name: string
  read(client: Client, entity: Entity, branches: Branches): Promise<string | undefined>
}

interface Hit {
  _id: string
  _index: string
  _type?: string
  _source: Record<string, unknown>
  sort?: unknown[]
}

const toldOf = ({ _id, _source }: Pick<Hit, '_id' | '_source'>): Told => {
  const {
    blockNumber,
    number = blockNumber,
    blockHash,
    hash,
    parentHash,
  } = _source as {
    [name: string]: string
  } & { number?: { num: number }; blockNumber?: { num: number } }
  return { id: _id, number: number!.num, hash: (blockHash ?? hash)!, parentHash }
}

const stream = (name: string, sortOf?: (entity: Entity) => unknown): Way => ({
  name,
  async read(client, entity, branches) {
    const answer = await client.post(`${NETWORK}/es/${entity}/search`, { size: -1, sort: sortOf?.(entity) })
    return judgedHits(answer, entity, branches)
  },
})

const judgedHits = (answer: Answer, entity: Entity, branches: Branches): string | undefined => {
  const hits = hitsIn(answer)
  if (hits.total !== hits.hits.length) return `the total is ${hits.total}, and there are ${hits.hits.length} hits`
  return branches.fault(entity, hits.hits.map(toldOf))
}

const whole = ({ status, text, isWhole }: Answer): string => {
  const reason = /"reason":"([^"]{1,120})/.exec(text)?.[1]
  if (status === 200 && isWhole && reason === undefined) return text
  throw new Ended(`${status}: ${reason ?? (isWhole ? brief(text, 100) : 'it broke off')}`)
}

const hitsIn = (answer: Answer): { total: number; hits: Hit[] } => {
  const { hits } = JSON.parse(whole(answer))
  const { total } = hits
  return { total: typeof total === 'object' ? total.value : total, hits: hits.hits }
}

const linesOf = (text: string): string[] => text.split('\n').filter(line => line !== '')

interface Page {
  _scroll_id?: string
  pit_id?: string
  hits: { hits: Hit[] }
}

const cursor = (
  name: string,
  next: (client: Client, entity: Entity, before: Page | undefined) => Promise<Answer>,
): Way => ({
  name,
  async read(client, entity, branches) {
    const documents: Told[] = []
    let before: Page | undefined
    let total: number | undefined
    for (;;) {
      const answer = await next(client, entity, before)
      const hits = hitsIn(answer)
      total ??= hits.total
      if (hits.hits.length === 0) break
      documents.push(...hits.hits.map(toldOf))
      before = JSON.parse(answer.text) as Page
    }
    if (documents.length > total) return `the total is ${total}, and there are ${documents.length} hits`
    return branches.fault(entity, documents, { isCursor: true })
  },
})

const NUMBER = { block: 'number.num', tx: 'blockNumber.num', log: 'blockNumber.num' } satisfies Record<Entity, string>

const WAYS: readonly Way[] = [
  stream('all hits'),
  stream('all hits, oldest first', () => ['_doc']),
  stream('all hits, newest first', entity => ({ [NUMBER[entity]]: 'desc' })),
  stream('all hits by their time, newest first', () => ({ timestamp: 'desc' })),
  stream('all hits by hash', entity => (entity === 'block' ? 'hash' : 'blockHash')),
  {
    name: 'all hits as NDJSON',
    async read(client, entity, branches) {
      const answer = await client.post(`${NETWORK}/es/${entity}/search`, { size: -1 }, 'application/x-ndjson')
      const lines = linesOf(whole(answer)).map(line => JSON.parse(line))
      return branches.fault(entity, lines.map(toldOf))
    },
  },
  {
    name: 'all hits as CSV',
    async read(client, entity, branches) {
      const names = [NUMBER[entity], entity === 'block' ? 'hash' : 'blockHash']
      const body = { size: -1, _source: names }
      const answer = await client.post(`${NETWORK}/es/${entity}/search`, body, 'text/csv')
      const [head, ...rows] = linesOf(whole(answer)).map(line => line.trim().split(','))
      const [number, hash] = names.map(name => head!.indexOf(name)) as [number, number]
      const documents = rows.map(row => ({ id: row[0]!, number: Number(row[number]), hash: row[hash]! }))
      return branches.fault(entity, documents)
    },
  },
  {
    name: 'all hits of several entities',
    async read(client, _, branches) {
      const hits = hitsIn(await client.post(`${NETWORK}/es/${ENTITIES}/search`, { size: -1 }))
      const of = (entity: Entity) => hits.hits.filter(({ _type }) => _type === entity).map(toldOf)
      const tops = ENTITIES.map(entity => of(entity).reduce((top, { number }) => Math.max(top, number), -1))
      if (new Set(tops).size > 1) return `the newest blocks of ${ENTITIES} are ${tops}`
      return ENTITIES.map(entity => branches.fault(entity, of(entity))).find(why => why !== undefined)
    },
  },
  {
    name: 'all hits of several networks',
    async read(client, entity, branches) {
      const hits = hitsIn(await client.post(`${NETWORK},${STILL}/es/${entity}/search`, { size: -1 }))
      const still = hits.hits.filter(({ _index }) => _index.includes('still')).length
      const own = hits.hits.filter(({ _index }) => !_index.includes('still'))
      const each = { block: 1, tx: 2, log: 4 }[entity]
      if (still !== STILL_BLOCKS * each) return `${still} hits of the network that does not change`
      if (hits.total !== hits.hits.length) return `the total is ${hits.total} of ${hits.hits.length}`
      return branches.fault(entity, own.map(toldOf))
    },
  },
  {
    name: 'the first thousands of hits',
    async read(client, entity, branches) {
      const answer = await client.post(`${NETWORK}/es/${entity}/search`, { size: 10_000 })
      return judgedHits(answer, entity, branches)
    },
  },
  {
    name: 'a page',
    async read(client, entity, branches) {
      const body = { size: PAGE, from: 0, sort: ['_doc'] }
      const hits = hitsIn(await client.post(`${NETWORK}/es/${entity}/search`, body))
      const documents = hits.hits.map(toldOf)
      const top = documents.at(-1)!.number
      return branches.fault(
        entity,
        documents.filter(({ number }) => number < top),
      )
    },
  },
  {
    name: 'aggregations',
    async read(client, entity) {
      const field = NUMBER[entity]
      const aggs = {
        blocks: { histogram: { field, interval: 1 } },
        last: { max: { field } },
        n: { value_count: { field } },
      }
      const answer = await client.post(`${NETWORK}/es/${entity}/search`, { size: 0, aggs })
      const { hits, aggregations } = JSON.parse(whole(answer))
      const counts = aggregations.blocks.buckets.map((it: { doc_count: number }) => it.doc_count) as number[]
      const each = { block: 1, tx: 2, log: 4 }[entity]
      if (counts.some(count => count !== each)) return `a block has another number than ${each} of ${entity}`
      const [blocks, last] = [counts.length, aggregations.last.value as number]
      const isSame = blocks === last + 1 && aggregations.n.value === blocks * each && hits.total === blocks * each
      return isSame ? undefined : `${blocks} blocks up to ${last}, ${aggregations.n.value} values of ${hits.total}`
    },
  },
  cursor('a scroll', (client, entity, before) =>
    before === undefined
      ? client.post(`${NETWORK}/es/${entity}/_search?scroll=1m`, { size: PAGE, sort: ['_doc'] })
      : client.post(`${NETWORK}/es/_search/scroll`, { scroll: '1m', scroll_id: before._scroll_id }),
  ),
  cursor('a point in time', async (client, entity, before) => {
    const opened = before ?? JSON.parse((await client.post(`${NETWORK}/es/${entity}/_pit?keep_alive=1m`)).text)
    return client.post(`${NETWORK}/es/_search`, {
      ...{ pit: { id: opened.pit_id ?? opened.id, keep_alive: '1m' }, size: PAGE, sort: ['_shard_doc'] },
      ...(before && { search_after: before.hits.hits.at(-1)!.sort }),
    })
  }),
]

/** Reads transactions by `resume`, and drops what it is told to drop. */
const createFollower = (client: Client) => {
  let token = 'start'
  let hits: Told[] = []
  let fault: string | undefined
  const page = async (): Promise<boolean> => {
    const { status, text } = await client.post(`${NETWORK}/es/tx/search`, { resume: token, size: PAGE })
    if (status !== 200) return false
    const { hits: found, resume } = JSON.parse(text)
    const from = resume.reorganised_from ?? Number.POSITIVE_INFINITY
    hits = [...hits.filter(({ number }) => number < from), ...found.hits.map(toldOf)]
    if (new Set(hits.map(({ id }) => id)).size < hits.length) fault ??= 'a transaction is there twice'
    token = resume.token
    return found.hits.length < PAGE
  }
  return {
    documents: () => hits,
    fault: () => fault,
    async run(goesOn: () => boolean) {
      while (!(await page()) || goesOn()) await pause(10)
    },
  }
}

interface Answer {
  status: number
  text: string
  isWhole: boolean
}

type Client = ReturnType<typeof createClient>

const createClient = ({ url, tokens }: Victim) => {
  const agent = new Agent({ connections: 16 })
  return {
    async post(path: string, body?: object, accept = 'application/json'): Promise<Answer> {
      const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json', accept }
      let [status, text] = [0, '']
      try {
        const answer = await agent.request({
          ...{ origin: url, path: `/${path}`, method: 'POST', headers, body: body ? JSON.stringify(body) : null },
        })
        status = answer.statusCode
        text = await answer.body.text()
        return { status, text, isWhole: true }
      } catch (error) {
        return { status, text: text || brief(String(error)), isWhole: false }
      }
    },
    close: () => agent.destroy(),
  }
}
