import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { SearchHit } from '../../src/console/api/wire.ts'
import { balanceChanges, transfersOf } from '../../src/console/pages/things/flows.ts'
import { fullyIndexedLogs, movementOf, stepsOf } from '../../src/console/pages/things/read.ts'
import { type SentencePart, sentenceOf } from '../../src/console/pages/things/sentence.ts'
import { formatAmount, roundedUnits, shortHex } from '../../src/console/parts/format.ts'
import { type Server, serve } from '../e2e/program.ts'
import { DEMO } from './support.ts'

/** Of the demo chain, by the first digits of the hash. */
const SENTENCES = {
  '0xe392582d': '0x58A5…1b25 deployed DUSD and paid 0.01127 ETH in fees.',
  '0x6717e5ef': '0x3eb8…4764 called open of 0x6bbc…C7A8 with 5 ETH and paid 0.001527 ETH in fees.',
  '0x6c42ee14': '0x58A5…1b25 minted 500,000 DUSD to 0x0D3e…e12C and paid 0.001287 ETH in fees.',
  '0xbfb7760c': '0x0D3e…e12C deposited 40 ETH for 40 WETH and paid 0.0006182 ETH in fees.',
  '0xb287d487': '0x58A5…1b25 allowed 0x9f86…6c8F to spend any amount of DUSD and paid 0.0007356 ETH in fees.',
  '0xfb497f24': '0x6030…83f8 allowed 0x1454…33e9 to spend 1 DUSD and paid 0.0009857 ETH in fees.',
  '0x27635618': '0xa642…D50D revoked the allowance of 0x9f86…6c8F for DUSD and paid 0.0003952 ETH in fees.',
  '0x07eaaed8': '0x58A5…1b25 added 500 ETH and 1,650,000 DUSD to UNI-V2 and paid 0.04833 ETH in fees.',
  '0x05012dce': '0x58A5…1b25 added 300,000 DGOV and 900,000 DUSD to UNI-V2 and paid 0.0499 ETH in fees.',
  '0x6de983ab': '0x4fb0…94BC removed 0.3997 ETH and 1,335 DUSD from UNI-V2 and paid 0.00162 ETH in fees.',
  '0x5675f146': '0x61e3…10f0 sent 1.78 ETH to 0x0D3e…e12C and paid 0.0003791 ETH in fees.',
  '0x2f39cd38': '0xF51B…8f9D transferred 289 DUSD to 0x3515…95c2 and paid 0.001064 ETH in fees.',
  '0x06e1f48b': '0x4fb0…94BC swapped 5,240 DUSD for 1.579 ETH on UNI-V2 and paid 0.002375 ETH in fees.',
  '0x1713e176': '0x4fb0…94BC swapped 0.136 ETH for 449.7 DUSD on UNI-V2 and paid 0.002322 ETH in fees.',
  '0x7ac64908': '0x0D3e…e12C swapped 675 DUSD for 0.00698 DBTC through 2 pools and paid 0.003804 ETH in fees.',
  '0x9f31ea7a': '0xe42f…6bBD redeemed 0.642 WETH for 0.642 ETH and paid 0.0005782 ETH in fees.',
  '0x531cb8cf': '0xa642…D50D deposited 1,500 DUSD for 1,500 sDUSD and paid 0.001988 ETH in fees.',
  '0x8f6c0ee3': '0xF51B…8f9D redeemed 134 sDUSD for 134 DUSD and paid 0.0009942 ETH in fees.',
  '0x3b9c9985': '0x58A5…1b25 minted 4#5 0x419E…3116 to 0x6030…83f8 and paid 0.0009115 ETH in fees.',
  '0xd9c7faae': '0x6030…83f8 minted #1 0xA040…CAAB for 0.05 ETH and paid 0.001624 ETH in fees.',
  '0x6a3834d9': '0xF51B…8f9D burned 29 DUSD and paid 0.0006539 ETH in fees.',
  '0xc96e4ff5': '0x6030…83f8 transferred #2 0xA040…CAAB to 0x0D3e…e12C and paid 0.0008972 ETH in fees.',
  '0xecbb497e': '0x0D3e…e12C transferred #2 0xA040…CAAB to itself and paid 0.0004973 ETH in fees.',
  '0x7073f2f2': '0x0D3e…e12C allowed 0xe42f…6bBD to transfer #6 0xA040…CAAB and paid 0.0009373 ETH in fees.',
  '0xbd45e239': '0x6030…83f8 allowed 0xe42f…6bBD to transfer all its 0xA040…CAAB and paid 0.000862 ETH in fees.',
  '0xc920f114': '0x6030…83f8 revoked the approval of 0xe42f…6bBD for 0xA040…CAAB and paid 0.0002515 ETH in fees.',
  '0xf14ded1e': '0x0D3e…e12C deposited 0.444 ETH for 0.444 WETH and paid 0.0005247 ETH in fees.',
  '0xf4a41266': '0x0D3e…e12C called 0xF51B…8f9D without data and paid 0.0003681 ETH in fees.',
  '0xd719289b':
    '0x2F07…6d8d tried to call panic of 0x2C42…9549, which failed: Panic(0x32): array index out of bounds, and paid 0.0004689 ETH in fees.',
  '0x05131d0c':
    '0x2F07…6d8d tried to call mint of DUSD, which failed: OwnableUnauthorizedAccount(account=0x2F07c220dC62CE9531bC44B695A6D93578806d8d), and paid 0.0003847 ETH in fees.',
  '0xcbdfd77b':
    '0x2F07…6d8d tried to send 0.1 ETH to 0x9f86…6c8F, which failed: router: no ether, and paid 0.0002791 ETH in fees.',
  '0x9951d164': '0xC529…F41F called 0x1cfcd95b of 0x9641…a5A8 and paid 0.000904 ETH in fees.',
  '0xbe9d0d73': '0x3eb8…4764 called execute of 0xE41d…d6bA and paid 0.001084 ETH in fees.',
  '0xc46bc900':
    '0x2F07…6d8d tried to call mint of 0xA040…CAAB with 0.000000000000000001 ETH, which failed: Reverted, and paid 0.0003311 ETH in fees.',
}

describe('sentences of transactions', () => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-sentences-'))
  const ends: (() => unknown)[] = []
  let server: Server
  const tokens = new Map<string, { symbol: string; decimals: number }>()
  before(async () => {
    server = await serve({ after: end => void ends.push(end) }, data)
    for (const { _id, _source } of await hits('token', { match_all: {} }))
      if (_source.symbol) tokens.set(_id, _source as never)
  })
  after(async () => {
    for (const end of ends) await end()
    rmSync(data, { recursive: true, force: true, maxRetries: 3 })
  })

  const hits = async (kind: string, query: unknown) =>
    (await server.search(DEMO, kind, { query, size: 1_000, sort: [{ _shard_doc: 'asc' }] })).hits.hits as SearchHit[]
  const every = async (kind: string) =>
    (await server.search(DEMO, kind, { size: -1, sort: [{ _shard_doc: 'asc' }] })).hits.hits as SearchHit[]
  const named = (address: string) => tokens.get(address.toLowerCase())?.symbol ?? shortHex(address)
  const units = (value: bigint, decimals = 0) => formatAmount(roundedUnits(value, decimals), decimals)
  const text = (part: SentencePart): string => {
    if (typeof part === 'string') return part
    if ('said' in part) return part.said
    if ('address' in part) return named(part.address)
    if ('coins' in part) return `${units(part.coins, 18)} ETH`
    const { decimals } = tokens.get(part.token.toLowerCase()) ?? {}
    return `${part.items.map(({ id, value }) => `${value === undefined ? '' : units(value, decimals)}${id === undefined ? '' : `#${id}`}`).join()} ${named(part.token)}`
  }
  const happening = async (tx: SearchHit) => {
    const [traces, calls, events, logs] = await Promise.all(
      ['trace', 'call', 'event', 'log'].map(kind => hits(kind, { term: { transactionHash: tx._id } })),
    )
    const steps = stepsOf(tx._source, traces!, calls!)
    return {
      tx: tx._source,
      transfers: transfersOf(steps, events!, logs!),
      events: events!,
      calls: steps.length,
      isWhole: true,
    }
  }
  const told = async (tx: SearchHit) =>
    sentenceOf(await happening(tx))
      .map(text)
      .join('')

  test('each transaction is told by what it moved, or by what it called', async () => {
    const txs = await every('tx')
    const found = Object.keys(SENTENCES).map(async start => {
      const tx = txs.find(({ _id }) => _id.startsWith(start))
      return [start, await told(tx!)] as const
    })
    assert.deepEqual(Object.fromEntries(await Promise.all(found)), SENTENCES)
  })

  test('what the chain says is never part of our words', async () => {
    const [tx] = await hits('tx', { term: { revertName: 'OwnableUnauthorizedAccount' } })
    const hostile = '<b>\u202e and paid nothing'
    for (const status of [true, false]) {
      const spoilt = { ...tx!, _source: { ...tx!._source, status, method: hostile, error: hostile } }
      const parts = sentenceOf(await happening(spoilt))
      assert.ok(parts.some(part => typeof part === 'object' && 'said' in part && part.said === hostile))
      assert.ok(parts.every(part => typeof part !== 'string' || !/[<\u202e]|nothing/.test(part)))
    }
  })

  test('data of which nothing tells whether code ran was sent, not called', async () => {
    const [tx] = await hits('tx', { bool: { filter: [{ term: { status: true } }, { term: { input: '0x' } }] } })
    const tell = async (more: object) => {
      const calm = { ...(await happening(tx!)), events: [], calls: 1 }
      return sentenceOf({ ...calm, tx: { ...tx!._source, ...more } })
        .map(text)
        .join('')
    }
    const [input, none] = ['0x68656c6c6f', { raw: '0x0', num: 0 }]
    assert.match(await tell({ input, value: none }), /^\S+ sent 5 bytes of data \(0x68656c6c…\) to \S+ and paid /)
    assert.match(await tell({ input }), /^\S+ sent [\d.]+ ETH and 5 bytes of data \(0x68656c6c…\) to \S+ and paid /)
    assert.match(await tell({ input, method: 'say' }), /^\S+ called say of /)
  })

  test('an id is no amount, whatever the name of its argument', async () => {
    const [nft] = await hits('token', { term: { standard: 'ERC-721' } })
    const moved = await hits('event', {
      bool: { filter: [{ term: { address: nft!._id } }, { term: { 'event.raw': 'Transfer' } }] },
    })
    const indexed = fullyIndexedLogs(await every('log'))
    for (const event of moved) {
      const args = (event._source.args as { name: string }[]).map(it => ({ ...it, name: 'x' }))
      const renamed = { ...event, _source: { ...event._source, args } as never }
      assert.deepEqual(movementOf(renamed, indexed), movementOf(event))
      assert.ok(movementOf(event)!.items[0]!.id !== undefined)
    }
    assert.ok(moved.length > 10)
  })

  test('a transaction of which more happened than was read says only what it called', async () => {
    const [{ _source } = {} as SearchHit] = await hits('event', { term: { 'event.raw': 'Swap' } })
    const [tx] = await hits('tx', { ids: { values: [_source.transactionHash] } })
    const parts = sentenceOf({ ...(await happening(tx!)), isWhole: false })
    assert.match(parts.map(text).join(''), /^0x\w+…\w+ called swap\w+ of /)
  })

  test('balance changes of a transaction add up to what was minted and burned', async () => {
    const [txs, traces, calls, events] = await Promise.all(['tx', 'trace', 'call', 'event'].map(kind => every(kind)))
    const ofTx = (all: SearchHit[]) => Map.groupBy(all, ({ _source }) => _source.transactionHash)
    const [tracesOf, callsOf, eventsOf] = [traces!, calls!, events!].map(ofTx)
    let changes = 0
    for (const { _id, _source } of txs!) {
      const steps = stepsOf(_source, tracesOf!.get(_id) ?? [], callsOf!.get(_id) ?? [])
      const transfers = transfersOf(steps, eventsOf!.get(_id) ?? [], [])
      const sums = new Map<string, bigint>()
      const add = (token: string | undefined, units: bigint) =>
        sums.set(String(token).toLowerCase(), (sums.get(String(token).toLowerCase()) ?? 0n) + units)
      for (const { token, item, isLoss } of balanceChanges(transfers)) {
        add(token, (isLoss ? -1n : 1n) * (item.value ?? 1n))
        changes++
      }
      for (const { token, from, to, items } of transfers.tokens)
        for (const { value = 1n } of items) {
          if (BigInt(from) === 0n) add(token, -value)
          if (BigInt(to) === 0n) add(token, value)
        }
      assert.deepEqual(
        [...sums.values()].filter(sum => sum !== 0n),
        [],
        _id,
      )
    }
    assert.ok(changes > 1_000, `only ${changes} changes`)
  })
})
