import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak256, toFunctionSelector, toHex } from 'viem'
import { analyzeCode, type CodeAnalysis } from '../../src/decode/code.ts'
import { readCompiled } from '../support/compiled.ts'
import { processorTime } from '../support/processor.ts'

const compiled = readCompiled()

/** Functions that a contract answers though its ABI does not tell them. */
const UNTOLD: Record<string, string[]> = {
  TransparentUpgradeableProxy: ['upgradeToAndCall(address,bytes)'],
  'TransparentUpgradeableProxy OpenZeppelin 4': [
    'admin()',
    'changeAdmin(address)',
    'implementation()',
    'upgradeTo(address)',
    'upgradeToAndCall(address,bytes)',
  ],
  SafeProxy: ['masterCopy()'],
}

test('the functions of compiled contracts are those of their ABIs', () => {
  for (const { name, by, code, selectors } of compiled) {
    const untold = (UNTOLD[`${name} ${by}`] ?? UNTOLD[name] ?? []).map(it => toFunctionSelector(it))
    assert.deepEqual(analyzeCode(code).selectors, [...new Set([...selectors, ...untold])].sort(), `${name} by ${by}`)
  }
})

test('the events of compiled contracts are found, with few words that are no events', () => {
  let known = 0
  let more = 0
  for (const { name, by, code, topics } of compiled) {
    const found = analyzeCode(code).topics
    assert.deepEqual(
      topics.filter(topic => !found.includes(topic)),
      [],
      `${name} by ${by}`,
    )
    assert.deepEqual(found, [...new Set(found)].sort())
    known += topics.length
    more += found.length - topics.length
  }
  assert.ok(known > 400 && more / known < 0.05, `${more} words besides ${known} topics`)
})

test('a factory has not the functions and events of what it creates', () => {
  const of = (name: string) => analyzeCode(compiled.find(it => it.name === name)!.code)
  const events = (name: string) => compiled.find(it => it.name === name)!.topics
  assert.deepEqual(of('UniswapV2Factory').topics, events('UniswapV2Factory').slice(0, 1))
})

test('standards and proxies of compiled contracts', () => {
  const found: Record<string, string> = {}
  for (const { name, by, code } of compiled) {
    const { standard, proxy } = analyzeCode(code)
    const is = proxy ? `${standard}, a proxy of ${proxy.kind}` : String(standard)
    assert.equal(found[name] ?? is, is, `${name} by ${by}`)
    found[name] = is
  }
  assert.deepEqual(found, {
    BeaconProxy: 'EIP-1967 beacon, a proxy of EIP-1967 beacon',
    Delegate897: 'EIP-897, a proxy of EIP-897',
    DiamondProxy: 'Diamond, a proxy of Diamond',
    Diamondish: 'Diamond, a proxy of Diamond',
    ERC1967Proxy: 'EIP-1967, a proxy of EIP-1967',
    ERC721PresetMinterPauserAutoId: 'ERC-721',
    Factory: 'null',
    // Its target is filled in when it is deployed.
    ImmutableProxy: 'null',
    Lock: 'null',
    Multi: 'ERC-1155',
    Nft: 'ERC-721',
    NftFork: 'ERC-721',
    NftUri: 'ERC-721',
    NoProxy: 'null',
    Old: 'ERC-20',
    Permit: 'ERC-20',
    Plain: 'ERC-20',
    Proxiable: 'EIP-1822, a proxy of EIP-1822',
    SMulti: 'ERC-1155',
    SNft: 'ERC-721',
    SPlain: 'ERC-20',
    SVault: 'ERC-4626',
    Safe: 'Safe',
    SafeProxy: 'Safe proxy, a proxy of Safe proxy',
    SimpleStore: 'null',
    TransparentUpgradeableProxy: 'EIP-1967, a proxy of EIP-1967',
    UniswapV2Factory: 'null',
    UniswapV2Pair: 'ERC-20',
    UniswapV3Factory: 'null',
    UniswapV3Pool: 'null',
    Upgrade: 'null',
    Uups: 'ERC-20',
    Vault: 'ERC-4626',
    VaultFork: 'ERC-4626',
    Votes20: 'ERC-20',
    Zero: 'null',
    store: 'null',
  })
})

const TARGET = 'bebebebebebebebebebebebebebebebebebebebe'

test('clones name what they delegate to, in all their forms', () => {
  const clone: CodeAnalysis = {
    selectors: [],
    topics: [],
    standard: 'EIP-1167',
    proxy: { kind: 'EIP-1167', target: `0x${TARGET}` },
  }
  const canonical = `363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`
  for (const code of [
    canonical,
    // With the shorter return of 2020, of PUSH0, of vyper since 0.2 and before, and of OpenZeppelin with arguments behind it.
    `3d3d3d3d363d3d37363d73${TARGET}5af43d3d93803e602a57fd5bf3`,
    `5f5f365f5f37365f73${TARGET}5af43d5f5f3e5f3d91602a57fd5bf3`,
    `365f5f375f5f365f73${TARGET}5af43d5f5f3e5f3d91602a57fd5bf3`,
    `366000600037611000600036600073${TARGET}5af4602c57600080fd5b6110006000f3`,
    `${canonical}${'00'.repeat(12)}${'77'.repeat(20)}`,
    // Arguments that are handed on behind the call data.
    `3d3d3d3d363d3d3761002a6037363936610 02a013d73${TARGET}5af43d3d93803e603557fd5bf3${'aa'.repeat(42)}`.replace(
      ' ',
      '',
    ),
  ])
    assert.deepEqual(analyzeCode(`0x${code}`), clone, code)

  const vanity = `363d3d373d3d3d363d6f${TARGET.slice(8)}5af43d82803e903d91602757fd5bf3`
  assert.deepEqual(analyzeCode(`0x${vanity}`), {
    ...clone,
    proxy: { kind: 'EIP-1167', target: `0x00000000${TARGET.slice(8)}` },
  })

  // Solidity's own, by an immutable: 32 bytes of zeros until it is deployed.
  for (const { code } of compiled.filter(({ name }) => name === 'ImmutableProxy'))
    assert.deepEqual(analyzeCode(code.replaceAll(`7f${'00'.repeat(32)}`, `7f${'00'.repeat(12)}${TARGET}`)), clone)
})

test('an account that delegates its code by EIP-7702 names the code', () => {
  const designator = `0xEF0100${TARGET.toUpperCase()}`
  assert.deepEqual(analyzeCode(designator), {
    selectors: [],
    topics: [],
    standard: 'EIP-7702',
    proxy: { kind: 'EIP-7702', target: `0x${TARGET}` },
  })
  assert.deepEqual(analyzeCode(`${designator}00`), NOTHING)
})

test('what delegates something else than its call data is no proxy', () => {
  // Memory that nothing was copied to, and call data without its first four bytes.
  for (const code of [`5f5f365f73${TARGET}5af4`, `6004360360045f375f5f600436035f73${TARGET}5af4`])
    assert.deepEqual(analyzeCode(`0x${code}`), NOTHING, code)
  assert.equal(analyzeCode(`0x365f5f375f5f365f73${TARGET}5af4`).proxy?.kind, 'EIP-1167')
})

const NOTHING: CodeAnalysis = { selectors: [], topics: [], standard: null, proxy: null }

test('what lies behind the code makes no difference', () => {
  for (const { name, code } of compiled.filter(({ by }) => by === 'runs 200')) {
    const { selectors, topics, standard, proxy } = analyzeCode(code)
    const others = '7fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60006000a1'
    assert.deepEqual(analyzeCode(`${code}fe${others}`), { selectors, topics, standard, proxy }, name)
  }
})

test('code that is no code, or a part of one, is looked at without harm', () => {
  for (const nothing of ['0x', '0x00', '0xfe', '0x60', `0x7f${'ff'.repeat(5)}`])
    assert.deepEqual(analyzeCode(nothing), NOTHING)
  const some = fc.oneof(
    fc.uint8Array({ maxLength: 4096 }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`),
    // Instructions of a few kinds only, so that there are jumps, loops and logs among them.
    fc
      .array(
        fc.constantFrom(
          '5b',
          '56',
          '57',
          '6000',
          '6003',
          '6004',
          '35',
          '60e01c',
          '80',
          '90',
          '14',
          '15',
          '16',
          '06',
          '01',
          '52',
          '51',
          '39',
          'f4',
          'a1',
          '36',
          '3d',
        ),
        { maxLength: 2000 },
      )
      .map(parts => `0x${parts.join('')}`),
    fc
      .tuple(fc.constantFrom(...compiled), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([{ code }, part]) => code.slice(0, 2 + 2 * Math.floor((part * (code.length - 2)) / 2))),
  )
  fc.assert(
    fc.property(some, code => {
      const { selectors, topics } = analyzeCode(code)
      assert.deepEqual(selectors, [...new Set(selectors)].sort())
      assert.deepEqual(topics, [...new Set(topics)].sort())
      for (const selector of selectors) assert.match(selector, /^0x[0-9a-f]{8}$/)
      for (const topic of topics) assert.match(topic, /^0x[0-9a-f]{64}$/)
    }),
    { numRuns: 500 },
  )
})

test('a megabyte of code takes no long time, even where it is made for it', () => {
  const MEGABYTE = 1 << 20
  const hashes = Array.from({ length: 1000 }, (_, i) => `7f${keccak256(toHex(i)).slice(2)}`)
  const selector = '5f3560e01c'
  for (const [name, begin, part] of [
    ['nothing', '', '00'],
    ['places to jump to', '', '5b'],
    ['pushes of pushes', '', '7f'],
    ['jumps to jumps', '', '5b600056'],
    ['conditions', '', '5b345f57'],
    ['a deep stack and jumps', `5b${'5f'.repeat(900)}`, '5b3461038557'],
    ['words that may be topics', '', hashes.join('')],
    ['words that may be topics, in blocks of their own', '', hashes.join('5b')],
    ['tables of functions', selector, '806101ff1650'],
    ['tables of functions in tables', `5b${selector}`, '806101ff165f57'],
    ['a contract again and again', '', compiled[0]!.code.slice(2)],
  ] as const) {
    const code = begin + part.repeat(Math.ceil((2 * MEGABYTE) / part.length))
    const started = processorTime()
    analyzeCode(`0x${code.slice(0, 2 * MEGABYTE)}`)
    const took = processorTime() - started
    assert.ok(took < 1000, `${name}: ${took} ms`)
  }
})

test('a contract of many functions that hands on the rest is no proxy', () => {
  const fallback = `5f5f365f5f37365f73${TARGET}5af43d5f5f3e5f3d91602a57fd5bf3`
  const withFunctions = (count: number) => {
    const compare = Array.from({ length: count }, (_, i) => `8063${(0x10000000 + i).toString(16)}1461fff057`)
    return analyzeCode(`0x5f3560e01c${compare.join('')}${fallback}`)
  }
  const target = `0x${TARGET}`
  assert.deepEqual(withFunctions(3), {
    selectors: ['0x10000000', '0x10000001', '0x10000002'],
    topics: [],
    standard: 'EIP-1167',
    proxy: { kind: 'EIP-1167', target },
  })
  const { selectors, standard, proxy } = withFunctions(40)
  assert.deepEqual({ selectors: selectors.length, standard, proxy }, { selectors: 40, standard: null, proxy: null })
})
