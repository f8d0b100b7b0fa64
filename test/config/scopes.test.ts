import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadConfig } from '../../src/config/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'chainsieve-scopes-'))
after(() => rmSync(folder, { recursive: true }))
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
const [A, B] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]

const scopingIn = (text: string, env = {}) => {
  const config = join(folder, 'chainsieve.toml')
  writeFileSync(config, `[[networks]]\nnetwork = "ethereum/ethereum/mainnet"\nrpc = ["http://a"]\n${text}`)
  return loadConfig({ flags: { config }, env }).networks[0]!.scoping
}

test('scopes come from the config file, with addresses of a file beside it', () => {
  writeFileSync(join(folder, 'vaults.txt'), `# vaults\n${B.toUpperCase().replace('X', 'x')} # one\n\n`)
  const scoping = scopingIn(`from = 500
    [[networks.scopes]]
    addresses = ["${B}", "${A}"]
    events = ["Transfer(address indexed from, address indexed to, uint value)"]
    to = 900
    [[networks.scopes]]
    addresses-file = "vaults.txt"
    from = "latest-10"
    [[networks.scopes]]
    factory = { addresses = ["${A}"], event = "PairCreated(address indexed token0, address indexed token1, address pair, uint)", parameter = "pair" }`)
  const nothing = { addresses: [], topics: [], factory: undefined, from: undefined, to: undefined }
  assert.deepEqual(scoping, {
    whole: true,
    scopes: [
      { ...nothing, addresses: [A, B], topics: [TRANSFER], to: { block: 900 } },
      { ...nothing, addresses: [B], from: { latest: 10 } },
      { ...nothing, factory: { addresses: [A], topic: PAIR_CREATED, place: { word: 0 } } },
    ],
  })
})

test('contract and event are one scope with the ends of the network', () => {
  const env = {
    CHAINSIEVE_CONTRACT: `${B},${A}`,
    CHAINSIEVE_EVENT: `Transfer(address,address,uint256), ${PAIR_CREATED}`,
  }
  const ends = { from: { block: 3 }, to: { block: 9 } }
  assert.deepEqual(scopingIn('from = 3\nto = 9', env), {
    whole: false,
    scopes: [{ addresses: [A, B], topics: [PAIR_CREATED, TRANSFER], factory: undefined, ...ends }],
  })
  assert.equal(scopingIn('from = 3'), undefined)
})

test('a scope may want transactions', () => {
  const ends = { from: undefined, to: undefined }
  const scope = { addresses: [A], topics: [], factory: undefined, ...ends }
  const wants = (text: string) =>
    scopingIn(`[[networks.scopes]]\naddresses = ["${A}"]\ntransactions = ${text}`)!.scopes[0]
  assert.deepEqual(wants('true'), { ...scope, transactions: 'search' })
  assert.deepEqual(wants('"read-blocks"'), { ...scope, transactions: 'read-blocks' })
  assert.deepEqual(wants('false'), scope)
  const env = { CHAINSIEVE_CONTRACT: A, CHAINSIEVE_TRANSACTIONS: 'true' }
  assert.deepEqual(scopingIn('', env)!.scopes, [{ ...scope, transactions: 'search' }])
})

test('what is wrong with a scope is told with its place', () => {
  const cases: [string, RegExp][] = [
    ['[[networks.scopes]]', /scopes\[0\] wants nothing: give addresses, events or a factory/],
    ['[[networks.scopes]]\naddress = ["0x"]', /scopes\[0\]: address is not a setting\..*addresses/],
    ['[[networks.scopes]]\naddresses = ["0x12"]', /addresses takes an address, 0x and 40 hex digits, not "0x12"/],
    [
      '[[networks.scopes]]\nevents = ["Transfer(addres)"]',
      /events: "Transfer\(addres\)" is not an event.*"addres" is not a type/,
    ],
    ['[[networks.scopes]]\naddresses-file = "none.txt"', /none\.txt cannot be read/],
    ['[[networks.scopes]]\nevents = ["A()"]\ntransactions = true', /transactions needs addresses or a factory/],
    [`[[networks.scopes]]\naddresses = ["${A}"]\ntransactions = "all"`, /takes true, false or read-blocks, not "all"/],
    [`transactions = true\n[[networks.scopes]]\naddresses = ["${A}"]`, /write it into the scopes that it is for/],
    ['transactions = true', /transactions is for chosen contracts, but none is given: add --contract/],
    ['event = ["A()"]\ntransactions = true', /transactions is for chosen contracts/],
    [`[[networks.scopes]]\naddresses = ["${A}"]\nfrom = 9\nto = 3`, /the last block, 3, is before the first, 9/],
    [`contract = ["${A}"]\n[[networks.scopes]]\nevents = ["A()"]`, /either scopes or contract and event/],
    [
      `[[networks.scopes]]\nfactory = { addresses = ["${A}"], event = "A(uint a, address b)", parameter = "a" }`,
      /parameter a of .* is a uint256, not an address/,
    ],
  ]
  for (const [text, message] of cases) assert.throws(() => scopingIn(text), { next: 'refuse', message })
})
