import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, type Hex, keccak256, toEventSelector, toFunctionSelector } from 'viem'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createCodeReader } from '../../src/decode/abi-finder.ts'
import { PROXY_QUESTIONS } from '../../src/decode/proxies.ts'
import type { BlockContract } from '../../src/documents/contracts.ts'
import { createLinkLookups } from '../../src/engine/dictionary-reader.ts'
import type { StoredLink, StoredUpgrade } from '../../src/engine/port.ts'
import { positionOf } from '../../src/engine/schema.ts'
import {
  createProxyResolver,
  type ProxyResolver,
  type ProxyResolverOptions,
} from '../../src/ingest/contracts/proxy-resolver.ts'
import { createSimilarity } from '../../src/ingest/contracts/similar-abi.ts'
import { retry } from '../../src/lib/errors.ts'
import { silent } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { codeOf } from '../support/deploy.ts'
import { oddBlocks } from '../support/odd.ts'
import { createTestStore } from '../support/store.ts'

const never = new AbortController().signal
const [A, B, C, D, E] = ['aa', 'bb', 'cc', 'dd', 'ee'].map(byte => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
  string,
  string,
]
const TOPIC = toEventSelector('Landed(uint256)')
const SELECTOR = toFunctionSelector('land(uint256)')
const UPGRADED = toEventSelector('Upgraded(address)')
const DIAMOND_CUT = toEventSelector('DiamondCut((address,uint8,bytes4[])[],address,bytes)')
const CODE = '0x6001600255'
const OTHER_CODE = '0x6003600455'

const word = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const cloneOf = (address: string) => `0x363d3d373d3d3d363d73${address.slice(2)}5af43d82803e903d91602b57fd5bf3`
const hashOf = (code: string) => keccak256(code as Hex)

interface Contract {
  code?: string
  slots?: Record<string, string>
  /** By selector. */
  answers?: Record<string, string>
}

const proxyOf = (kind: keyof typeof PROXY_QUESTIONS, name: string, target: string): Contract => ({
  code: codeOf(name),
  slots: { [PROXY_QUESTIONS[kind].slot!]: word(target) },
})
const beaconOf = (target: string): Contract => ({
  code: OTHER_CODE,
  answers: { [toFunctionSelector('implementation()')]: word(target) },
})
const facetsOf = (...facets: [address: string, ...selectors: string[]][]): Contract => ({
  code: codeOf('DiamondProxy'),
  answers: {
    [toFunctionSelector('facets()')]: encodeAbiParameters(
      [{ type: 'tuple[]', components: [{ type: 'address' }, { type: 'bytes4[]' }] }],
      [facets.map(([address, ...selectors]) => [address as Hex, selectors as Hex[]])] as never,
    ),
  },
})

interface Step {
  logs?: [address: string, ...topics: string[]][]
  calls?: [to: string, input: string][]
}

/** A block of one transaction with these logs, and one for each call before it. */
const block = (number: number, { logs = [], calls = [] }: Step): RawBlock =>
  ({
    block: {
      number: `0x${number.toString(16)}`,
      transactions: [...calls.map(([to, input]) => ({ to, input })), { to: null, input: '0x' }].map(
        (transaction, transactionIndex) => ({ ...transaction, transactionIndex }),
      ),
    },
    receipts: [...calls.map(() => ({ logs: [] })), { logs: logs.map(([address, ...topics]) => ({ address, topics })) }],
  }) as unknown as RawBlock

/** Prefetches for a block with these logs, which is the head. */
const emit = (links: ProxyResolver, number: number, ...logs: NonNullable<Step['logs']>) =>
  links.prefetch([block(number, { logs })], number, never)

const setUp = (contracts: Record<string, Contract>, rest: Partial<ProxyResolverOptions> = {}) => {
  const asked: string[] = []
  const links = createProxyResolver({
    async state(questions) {
      return questions.map(question => {
        if ('codeOf' in question) {
          asked.push(`code ${question.codeOf.slice(2, 4)}`)
          return contracts[question.codeOf]?.code ?? '0x'
        }
        asked.push(`slot ${question.storageOf.slice(2, 4)}`)
        return contracts[question.storageOf]?.slots?.[question.slot] ?? '0x0'
      })
    },
    async call(calls) {
      return calls.map(({ to, data }) => {
        asked.push(`call ${to.slice(2, 4)}`)
        return contracts[to]?.answers?.[data] ?? null
      })
    },
    readCode: createCodeReader(),
    holders: () => [],
    likeness: createSimilarity(() => undefined),
    stored: { link: () => undefined, upgrades: () => [] },
    keys: () => new Set([TOPIC, SELECTOR]),
    created: () => [],
    log: silent,
    ...rest,
  })
  const takeAsked = () => asked.splice(0)
  /** Contracts that a call, or a log, of a contract is decoded by. */
  const ofAt = (address: string, at = Number.POSITIVE_INFINITY, selector?: string) =>
    links.of(address, at, selector).map(link => link.address)
  return { links, takeAsked, ofAt }
}

test('a proxy is known by what it passes calls on to, whichever way it tells', async () => {
  const clone = { code: cloneOf(C) }
  const proxies: Record<string, [Contract, asked: string[]]> = {
    'EIP-1167': [clone, []],
    'EIP-7702': [{ code: `0xef0100${C.slice(2)}` }, []],
    'EIP-1967': [proxyOf('EIP-1967', 'ERC1967Proxy', C), ['slot aa']],
    'EIP-1822': [proxyOf('EIP-1822', 'Proxiable', C), ['slot aa']],
    'Safe proxy': [proxyOf('Safe proxy', 'SafeProxy', C), ['slot aa']],
    'EIP-897': [
      { code: codeOf('Delegate897'), answers: { [toFunctionSelector('implementation()')]: word(C) } },
      ['slot aa', 'call aa'],
    ],
    'EIP-897, told to its administrator': [proxyOf('EIP-897', 'Delegate897', C), ['slot aa', 'call aa']],
    'EIP-1967 beacon': [proxyOf('EIP-1967 beacon', 'BeaconProxy', B), ['slot aa', 'code bb', 'call bb']],
    Diamond: [facetsOf([C, SELECTOR]), ['call aa']],
  }
  for (const [kind, [contract, questions]] of Object.entries(proxies)) {
    const world = { [A]: contract, [B]: beaconOf(C), [C]: { code: CODE } }
    const { links, takeAsked } = setUp(world)
    await emit(links, 1, [A, TOPIC])
    assert.deepEqual(
      links.of(A.toUpperCase().replace('0X', '0x'), 0),
      [
        { address: A, codeHash: hashOf(contract.code!) },
        { address: C, codeHash: hashOf(CODE) },
      ],
      kind,
    )
    assert.deepEqual(links.of(A, 0, SELECTOR), links.of(A, 0), kind)
    assert.equal(links.implementationOf(A, 0), C, kind)
    assert.deepEqual(takeAsked(), ['code aa', ...questions, 'code cc'], kind)
  }
})

test('a contract is asked once, and only where ABIs of single contracts may be of it', async () => {
  const contracts = { [A]: { code: cloneOf(B) }, [B]: { code: CODE }, [C]: { code: CODE }, [E]: { code: cloneOf(C) } }
  const { links, takeAsked } = setUp(contracts)
  const irrelevant = block(1, { logs: [[A, UPGRADED], [B]], calls: [[C, '0x12345678']] })
  await links.prefetch([irrelevant], 1, never)
  assert.deepEqual(takeAsked(), [])
  const relevant = block(2, { logs: [[A, TOPIC]], calls: [[C, `${SELECTOR}${'00'.repeat(32)}`]] })
  await Promise.all([links.prefetch([relevant], 2, never), links.prefetch([relevant, block(3, {})], 3, never)])
  assert.deepEqual(takeAsked().sort(), ['code aa', 'code bb', 'code cc'])
  await links.prefetch([relevant], 5, never)
  assert.deepEqual(takeAsked(), [])
  const link = (code: string, delegation: StoredLink['delegation']) => ({
    codeHash: hashOf(code),
    delegation,
    position: positionOf(3, 0) - 1,
  })
  const learnt = links.takeLearnt().map(({ position: _, ...rest }) => rest)
  const { position: _, ...plain } = link(CODE, null)
  assert.deepEqual(
    learnt.sort((a, b) => (a.address < b.address ? -1 : 1)),
    [
      { address: A, codeHash: hashOf(cloneOf(B)), delegation: { kind: 'fixed', targets: [{ address: B }] } },
      { address: B, ...plain },
      { address: C, ...plain },
    ],
  )
  assert.deepEqual(links.takeLearnt(), [])

  // Calls inside of transactions count, and proxies that come to be, which their documents tell of.
  const inside = { ...block(3, {}), traces: [{ type: 'call', action: { to: D, input: SELECTOR } }] } as RawBlock
  await links.prefetch([inside], 3, never)
  assert.deepEqual(takeAsked(), ['code dd'])
  const readCode = createCodeReader()
  const created = [E, D].map(address => ({ address, code: readCode(contracts[address]?.code ?? '0x00') }))
  const births = setUp(contracts, { created: () => created as BlockContract[] })
  await births.links.prefetch([block(1, {})], 1, never)
  // Which names its target itself.
  assert.deepEqual(births.takeAsked(), ['code cc'])

  for (const rest of [{ keys: () => new Set<string>() }, { state: undefined }, { call: undefined }]) {
    const none = setUp(contracts, { created: () => created as BlockContract[], ...rest })
    await none.links.prefetch([relevant, inside], 3, never)
    assert.deepEqual([none.takeAsked(), none.ofAt(A)], [[], [A]])
  }

  // What the store knows is not asked.
  const stored = new Map<string, StoredLink>([
    [A, link(cloneOf(B), { kind: 'fixed', targets: [{ address: B }] })],
    [B, link(CODE, null)],
    [C, link(CODE, null)],
  ])
  const later = setUp(contracts, { stored: { link: address => stored.get(address), upgrades: () => [] } })
  await later.links.prefetch([relevant], 3, never)
  assert.deepEqual([later.takeAsked(), later.ofAt(A), later.links.isOpen(relevant)], [[], [A, B], false])
  stored.delete(B)
  const part = setUp(contracts, { stored: { link: address => stored.get(address), upgrades: () => [] } })
  assert.equal(part.links.isOpen(relevant), true)
  await part.links.require(relevant, never)
  assert.deepEqual([part.takeAsked(), part.links.isOpen(relevant)], [['code bb'], false])
})

test('a log tells what a proxy runs from then on; before, it is what it tells now', async () => {
  const contracts = {
    [A]: proxyOf('EIP-1967', 'ERC1967Proxy', D),
    [B]: proxyOf('EIP-1967 beacon', 'BeaconProxy', C),
    [C]: beaconOf(D),
    [D]: { code: CODE },
    [E]: { code: OTHER_CODE },
  }
  const { links, ofAt, takeAsked } = setUp(contracts)
  const at = (number: number, place: number) => positionOf(number, place)
  const upgrade = (of: string): Step => ({
    logs: [
      [A, TOPIC],
      [of, UPGRADED, word(E)],
      [A, TOPIC],
      [B, TOPIC],
    ],
  })
  // A back-fill, from a chain that reaches further.
  await links.prefetch([block(5, upgrade(A)), block(6, upgrade(C))], 100, never)
  assert.deepEqual(
    [at(5, 0), at(5, 1), at(5, 2), at(99, 0), at(101, 0)].map(position => ofAt(A, position)),
    [D, D, E, E, D].map(target => [A, target]),
  )
  assert.deepEqual(
    [at(6, 1), at(6, 2), at(101, 0)].map(position => ofAt(B, position)),
    [D, E, D].map(target => [B, target]),
  )
  assert.deepEqual(links.of(A, at(5, 2))[1], { address: E, codeHash: hashOf(OTHER_CODE) })
  takeAsked()
  await emit(links, 101, [A, UPGRADED, word(E)], [A, TOPIC])
  assert.deepEqual([ofAt(A, at(101, 0)), ofAt(A, at(101, 1)), takeAsked()], [[A, D], [A, E], []])

  // What it ran only for a while is asked as well.
  const brief = setUp(contracts)
  const twice = [E, D].map((it, i) =>
    block(5 + i, {
      logs: [
        [A, UPGRADED, word(it)],
        [A, TOPIC],
      ],
    }),
  )
  await brief.links.prefetch(twice, 100, never)
  assert.deepEqual(
    [at(5, 1), at(6, 1)].map(position => brief.links.of(A, position)[1]),
    [
      { address: E, codeHash: hashOf(OTHER_CODE) },
      { address: D, codeHash: hashOf(CODE) },
    ],
  )

  // No such log changes what cannot change, and one that names nobody changes nothing.
  const others = setUp({ [A]: { code: cloneOf(D) }, [B]: { code: CODE }, [C]: proxyOf('EIP-1967', 'ERC1967Proxy', D) })
  const logs: Step['logs'] = [A, B].flatMap(address => [
    [address, TOPIC],
    [address, UPGRADED, word(E)],
  ])
  await others.links.prefetch([block(1, { logs: [...logs, [C, TOPIC], [C, UPGRADED]] })], 1, never)
  assert.deepEqual(
    [A, B, C].map(address => others.ofAt(address)),
    [[A, D], [B], [C, D]],
  )
  // Without a node it is all that is known.
  const alone = setUp({}, { state: undefined })
  await alone.links.prefetch([block(1, { logs: [[A, UPGRADED, word(E)]] })], -1, never)
  assert.deepEqual([ofAt(E), alone.ofAt(A), alone.ofAt(A, at(1, 0))], [[E], [A, E], [A]])
})

test('upgrades that come in any order are those of the chain', async () => {
  const range = { min: 0, max: 30 }
  const upgrades = fc.array(fc.tuple(fc.integer(range), fc.nat(200)), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      upgrades,
      fc.integer(range),
      fc.array(fc.integer(range), { minLength: 1 }),
      async (told, head, looks) => {
        const now = `0x${'99'.repeat(20)}`
        const implementation = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}`
        const { links } = setUp({ [A]: proxyOf('EIP-1967', 'ERC1967Proxy', now) })
        const stored: StoredUpgrade[] = []
        await links.prefetch([block(0, { logs: [[A, TOPIC]] })], head, never)
        for (const [number, n] of told) {
          const position = positionOf(number, 0)
          const step: Step = { logs: [[A, UPGRADED, word(implementation(n))]] }
          await links.prefetch([block(number, step)], -1, never)
          if (!stored.some(it => it.position === position)) stored.push({ position, implementation: implementation(n) })
        }
        for (const look of looks) {
          const at = positionOf(look, 1)
          const asked = { position: positionOf(head + 1, 0) - 1, implementation: now }
          const known = [...stored, asked].filter(
            ({ position }) => position < at || (position === at && asked.position === at),
          )
          const latest = known.sort((a, b) => a.position - b.position).at(-1) ?? asked
          assert.equal(links.implementationOf(A, at), latest.implementation)
        }
      },
    ),
    { numRuns: 200 },
  )
})

test("calls of a diamond are its facets', by their selectors; when it is cut, it is asked anew", async () => {
  const contracts: Record<string, Contract> = {
    [A]: facetsOf([B, SELECTOR, '0x11111111'], [C, '0x22222222']),
    [B]: { code: CODE },
    [C]: { code: OTHER_CODE },
    [D]: { code: CODE },
  }
  const { links, ofAt, takeAsked } = setUp(contracts)
  await links.prefetch([block(50, { logs: [[A, TOPIC]] })], 100, never)
  assert.deepEqual(
    [SELECTOR, '0x11111111', '0x22222222', '0x33333333', undefined].map(selector => ofAt(A, 0, selector)),
    [[A, B], [A, B], [A, C], [A], [A, B, C]],
  )
  assert.equal(links.implementationOf(A, 0), null)
  takeAsked()
  contracts[A] = facetsOf([D, SELECTOR])
  const cut = (number: number) => block(number, { logs: [[A, DIAMOND_CUT]] })
  await links.prefetch([cut(60), block(61, { logs: [[A, TOPIC]] })], 100, never)
  assert.deepEqual([takeAsked(), ofAt(A)], [[], [A, B, C]], 'it was asked after that')
  await links.prefetch([cut(101)], 101, never)
  assert.deepEqual(takeAsked(), [], 'nothing of interest comes of it now')
  await links.prefetch([block(102, { calls: [[A, SELECTOR]] })], 102, never)
  await links.prefetch([block(103, { calls: [[A, SELECTOR]] })], 103, never)
  assert.deepEqual(
    [takeAsked(), ofAt(A)],
    [
      ['code aa', 'call aa', 'code dd'],
      [A, D],
    ],
  )
})

test('proxies of proxies are followed for three steps, and round in no circle', async () => {
  const chain = [A, B, C, D, E]
  const contracts = Object.fromEntries(chain.map((address, i) => [address, { code: cloneOf(chain[i + 1] ?? A) }]))
  const { links, ofAt, takeAsked } = setUp(contracts)
  await emit(links, 1, [A, TOPIC])
  assert.deepEqual(
    [ofAt(A), takeAsked()],
    [
      [A, B, C, D],
      ['code aa', 'code bb', 'code cc', 'code dd'],
    ],
  )
  const round = setUp({ [A]: { code: cloneOf(B) }, [B]: { code: cloneOf(A) }, [C]: { code: cloneOf(C) } })
  await emit(round.links, 1, [A, TOPIC], [C, TOPIC])
  assert.deepEqual([round.ofAt(A), round.ofAt(C)], [[A, B], [C]])
})

test('an account without code is asked again in later blocks, a beacon stays one when it is called itself', async () => {
  const contracts: Record<string, Contract> = {
    [B]: proxyOf('EIP-1967 beacon', 'BeaconProxy', C),
    [C]: beaconOf(D),
    [D]: { code: CODE },
  }
  const { links, ofAt, takeAsked } = setUp(contracts)
  const landed = (number: number) => block(number, { calls: [[A, SELECTOR]] })
  await links.prefetch([landed(1)], 10, never)
  await links.prefetch([landed(2), landed(10)], 10, never)
  assert.deepEqual(takeAsked(), ['code aa'])
  contracts[A] = { code: cloneOf(D) }
  await links.prefetch([landed(11)], 11, never)
  assert.deepEqual(
    [takeAsked(), ofAt(A)],
    [
      ['code aa', 'code dd'],
      [A, D],
    ],
  )

  await links.prefetch([block(12, { calls: [[C, SELECTOR]] })], 12, never)
  assert.deepEqual([takeAsked(), ofAt(C)], [['code cc'], [C]])
  await links.prefetch(
    [
      block(13, {
        calls: [
          [B, SELECTOR],
          [C, SELECTOR],
        ],
      }),
    ],
    13,
    never,
  )
  assert.deepEqual([takeAsked(), ofAt(B), ofAt(C)], [['code bb', 'slot bb', 'code cc', 'call cc'], [B, D], [C]])
})

test('a beacon that is asked anew, or was lost, goes on to offer', async () => {
  const contracts = {
    [B]: proxyOf('EIP-1967 beacon', 'BeaconProxy', C),
    [C]: beaconOf(D),
    [D]: { code: CODE },
  }
  const { links, ofAt, takeAsked } = setUp(contracts)
  await emit(links, 5, [B, TOPIC])
  links.forget(positionOf(5, 0))
  takeAsked()
  await links.prefetch([block(5, { calls: [[C, SELECTOR]] })], 5, never)
  assert.deepEqual(
    [takeAsked(), ofAt(B)],
    [
      ['code cc', 'call cc'],
      [B, D],
    ],
  )

  const [link] = links.takeLearnt()
  assert.equal(link?.address, C)
  const position = positionOf(9, 0)
  const stored: StoredLink = {
    codeHash: hashOf(CODE),
    delegation: { kind: 'beacon', targets: [{ address: C }] },
    position,
  }
  const lost = setUp(contracts, {
    stored: { link: address => (address === B ? stored : undefined), upgrades: () => [] },
  })
  await emit(lost.links, 5, [B, TOPIC])
  assert.deepEqual(lost.ofAt(B), [B, D])
})

test('a node that does not answer holds up nothing, and is asked again after a while', async () => {
  let time = 0
  let answers = false
  let tries = 0
  const slept: number[] = []
  const { links, ofAt } = setUp(
    {},
    {
      now: () => time,
      clock: { ...systemClock, sleep: async ms => void slept.push(ms) },
      async state(questions) {
        tries++
        if (!answers) throw retry('node_error', 'eth_getCode: the method does not exist')
        return questions.map(() => cloneOf(B))
      },
    },
  )
  const landed = block(1, { logs: [[A, TOPIC]] })
  await links.prefetch([landed], 1, never)
  await links.prefetch([landed], 1, never)
  assert.deepEqual([tries, ofAt(A), links.takeLearnt()], [1, [A], []])
  assert.deepEqual([links.isOpen(landed), links.isOpen(block(2, { logs: [[A, UPGRADED]] }))], [true, false])
  await links.require(landed, never)
  assert.deepEqual([tries, slept], [2, [3_000]])
  answers = true
  time = 60_001
  await links.prefetch([landed], 1, never)
  assert.deepEqual([ofAt(A), links.isOpen(landed)], [[A, B], false])

  const other = block(2, { logs: [[D, TOPIC]] })
  await links.require(other, never)
  assert.deepEqual([ofAt(D), links.isOpen(other), slept.length], [[D, B], false, 1])
  await links.know([D, E], 2, never)
  assert.deepEqual([tries, ofAt(E)], [6, [E, B]])
})

test('with blocks that are gone goes what was known as of then, on another chain all', async () => {
  const contracts: Record<string, Contract> = {
    [A]: proxyOf('EIP-1967', 'ERC1967Proxy', D),
    [B]: { code: cloneOf(D) },
    [D]: { code: CODE },
    [E]: { code: CODE },
  }
  const { links, ofAt, takeAsked } = setUp(contracts)
  await emit(links, 5, [A, TOPIC])
  await emit(links, 8, [B, TOPIC], [A, UPGRADED, word(E)])
  assert.deepEqual(
    [ofAt(A), ofAt(B)],
    [
      [A, E],
      [B, D],
    ],
  )
  takeAsked()
  links.forget(positionOf(8, 0))
  assert.deepEqual(
    links.takeLearnt().map(({ address }) => address),
    [A, D],
  )
  assert.deepEqual(
    [ofAt(A), ofAt(B)],
    [
      [A, D],
      [B, D],
    ],
    'blocks on their way still know it',
  )
  contracts[B] = { code: cloneOf(E) }
  await emit(links, 8, [A, TOPIC], [B, TOPIC])
  assert.deepEqual(
    [takeAsked(), ofAt(A), ofAt(B)],
    [
      ['code bb', 'code ee'],
      [A, D],
      [B, E],
    ],
  )
  links.forget(0)
  assert.deepEqual([ofAt(A), links.takeLearnt()], [[A], []])

  // What was asked on a branch that is left meanwhile is asked again.
  const left = setUp(
    {},
    {
      async state(questions) {
        const code = contracts[B]!.code!
        left.links.forget(positionOf(8, 0))
        contracts[B] = { code: cloneOf(D) }
        return questions.map(question => ('codeOf' in question && question.codeOf === B ? code : CODE))
      },
    },
  )
  let forgot = 0
  const { forget } = left.links
  left.links.forget = from => void (forgot++ === 0 && forget(from))
  await emit(left.links, 8, [B, TOPIC])
  assert.deepEqual(left.ofAt(B), [B, D])
})

test('the store gives back what was learnt of contracts and told by logs, until its blocks are gone', t => {
  const blocks = oddBlocks(6).filter(({ receipts }) => receipts.length > 0)
  const numbers = blocks.map(({ block }) => Number(block.number))
  for (const { receipts } of blocks)
    receipts[0]!.logs.unshift(
      { ...receipts[0]!.logs[0]!, address: A, topics: [UPGRADED, word(E)], data: '0x' },
      { ...receipts[0]!.logs[0]!, address: A.toUpperCase().replace('0X', '0x'), topics: [DIAMOND_CUT], data: '0x' },
    )
  assert.ok(blocks.length >= 2)
  const [first, second] = numbers as [number, number]
  const links: Record<string, StoredLink> = {
    [A]: { codeHash: hashOf(CODE), delegation: { kind: 'upgradeable', targets: [] }, position: positionOf(first, 9) },
    [B]: {
      codeHash: hashOf(OTHER_CODE),
      delegation: {
        kind: 'diamond',
        targets: [
          { address: C, selectors: [SELECTOR] },
          { address: D, selectors: [] },
        ],
      },
      position: positionOf(second, 0),
    },
    [C]: { codeHash: null, delegation: null, position: positionOf(first, 9) },
  }
  const open = Object.entries(links).map(([address, link]) => ({ address, ...link }))
  const store = createTestStore(blocks, { run: 1, links: { takeLearnt: () => open.splice(0) } })
  t.after(() => store.close())
  const read = () => createLinkLookups(store.db)
  const all = [A, B, C, D].map(address => read().link(address))
  assert.deepEqual(all, [links[A], links[B], links[C], undefined])
  const upgradesOf = (of: readonly number[]) =>
    of.flatMap(number => [
      { position: positionOf(number, 0), implementation: E },
      { position: positionOf(number, 1), implementation: null },
    ])
  assert.deepEqual([read().upgrades(A), read().upgrades(E)], [upgradesOf(numbers), []])

  // Who is asked again answers anew.
  open.push({ address: C, ...links[A]! })
  store.rollback(numbers.at(-1)! - 1)
  store.add(blocks.slice(-1))
  assert.deepEqual([read().link(C), read().upgrades(A)], [links[A], upgradesOf(numbers)])
  store.rollback(first)
  assert.deepEqual(
    [A, B, C].map(address => read().link(address)),
    [links[A], undefined, links[A]],
  )
  assert.deepEqual(read().upgrades(A), upgradesOf([first]))
  store.rollback(-1)
  assert.deepEqual([read().link(A), read().upgrades(A)], [undefined, []])
})
