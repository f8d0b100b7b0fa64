import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Abi, decodeEventLog, encodeAbiParameters, getAddress, toEventSelector, zeroAddress } from 'viem'
import { readPack } from '../src/chain/files/pack.ts'
import type { RawBlock, RpcLog } from '../src/chain/wire.ts'
import { parseTokens } from '../src/decode/registry.ts'

const data = new URL('../data/', import.meta.url)
const packPath = fileURLToPath(new URL('demo.ndjson.gz', data))
const text = (name: string) => readFileSync(new URL(name, data), 'utf8')

interface Trace {
  type: string
  blockNumber: number
  transactionHash: string
  traceAddress: number[]
  subtraces: number
  error?: string
  result?: { address?: string }
}

/** The rows of the table below a heading of the page, the code quotes taken off. */
const rows = (heading: string): string[][] => {
  const section = text('demo.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(2)
    .map(line =>
      line
        .slice(2, -2)
        .split(' | ')
        .map(cell => cell.trim().replace(/^`(.*)`( \(1\))?$/, '$1$2')),
    )
}

const topic = (signature: string) => toEventSelector(`event ${signature}`)
const transferTopic = topic('Transfer(address,address,uint256)')
const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

describe('the demo chain', () => {
  const blocks: RawBlock[] = []
  let logs: RpcLog[]
  let traces: Trace[]

  before(async () => {
    for await (const { block } of readPack(packPath, { chainId: 31337 })) blocks.push(block)
    logs = blocks.flatMap(({ receipts }) => receipts.flatMap(receipt => receipt.logs))
    traces = blocks.flatMap(raw => raw.traces as Trace[])
  })

  it('is at most 2 MB', () => {
    assert.ok(statSync(packPath).size <= 2_000_000, `${statSync(packPath).size} bytes`)
  })

  it('is linked by parent hash from block 0 on, about 12 seconds apart', () => {
    let parentHash = `0x${'0'.repeat(64)}`
    let time = 1_735_689_600 - 12
    for (const [number, { chainId, block }] of blocks.entries()) {
      assert.equal(chainId, 31337)
      assert.equal(Number(block.number), number)
      assert.equal(block.parentHash, parentHash)
      assert.ok([12, 24].includes(Number(block.timestamp) - time), `block ${number} at ${block.timestamp}`)
      parentHash = block.hash
      time = Number(block.timestamp)
    }
  })

  it('has a receipt for every transaction, and a tree of traces', () => {
    for (const { block, receipts, traces } of blocks) {
      const hashes = block.transactions.map(({ hash }) => hash)
      assert.deepEqual(
        receipts.map(({ transactionHash }) => transactionHash),
        hashes,
      )
      assert.equal(Number(receipts.at(-1)?.cumulativeGasUsed ?? 0), Number(block.gasUsed))
      const roots = (traces as Trace[]).filter(({ traceAddress }) => traceAddress.length === 0)
      assert.deepEqual(
        roots.map(({ transactionHash }) => transactionHash),
        hashes,
      )
      for (const { transactionHash, traceAddress, subtraces } of traces as Trace[]) {
        const children = (traces as Trace[]).filter(
          trace =>
            trace.transactionHash === transactionHash &&
            trace.traceAddress.length === traceAddress.length + 1 &&
            traceAddress.every((step, i) => trace.traceAddress[i] === step),
        )
        assert.equal(children.length, subtraces)
      }
    }
  })

  it('carries nothing but what nodes send', () => {
    for (const { block } of blocks) {
      for (const transaction of block.transactions) {
        for (const name of ['blobs', 'commitments', 'proofs']) assert.ok(!(name in transaction))
      }
    }
  })

  it('holds what its page counts', () => {
    const transactions = blocks.flatMap(({ block }) => block.transactions)
    const receipts = blocks.flatMap(raw => raw.receipts)
    const ofType = (type: string) => transactions.filter(tx => tx.type === type).length
    const traced = (type: string) => traces.filter(trace => trace.type === type).length
    assert.deepEqual(Object.fromEntries(rows('Counts').map(([what, count]) => [what, Number(count)])), {
      blocks: 421,
      'blocks without transactions': blocks.filter(({ block }) => block.transactions.length === 0).length,
      transactions: transactions.length,
      'transactions of type 0 (legacy)': ofType('0x0'),
      'transactions of type 1 (access list)': ofType('0x1'),
      'transactions of type 2 (EIP-1559)': ofType('0x2'),
      'transactions of type 3 (blobs)': ofType('0x3'),
      'transactions of type 4 (delegation)': ofType('0x4'),
      'failed transactions': receipts.filter(({ status }) => status !== '0x1').length,
      'transactions that create a contract': transactions.filter(({ to }) => to === null).length,
      logs: logs.length,
      'logs without a topic': logs.filter(log => log.topics.length === 0).length,
      traces: traces.length,
      'traces of type call': traced('call'),
      'traces of type create': traced('create'),
      'traces of type suicide': traced('suicide'),
      'failed traces': traces.filter(trace => 'error' in trace).length,
    })
    assert.ok(rows('Counts').every(([, count]) => Number(count) > 0))
  })

  it('has the accounts of its page', () => {
    const counted = rows('Accounts').map(([name, address]) => {
      assert.equal(getAddress(address!), address)
      const own = address!.toLowerCase()
      let from = 0
      let to = 0
      let failed = 0
      for (const { block, receipts } of blocks) {
        for (const [i, tx] of block.transactions.entries()) {
          if (tx.to === own) to++
          if (tx.from !== own) continue
          from++
          if (receipts[i]!.status === '0x0') failed++
        }
      }
      return [name, address, String(from), String(to), String(failed)]
    })
    assert.deepEqual(
      rows('Accounts').map(row => row.slice(0, 5)),
      counted,
    )
    const sum = (column: number) => counted.reduce((total, row) => total + Number(row[column]), 0)
    const total = Object.fromEntries(rows('Counts'))
    assert.equal(sum(2), Number(total.transactions))
    assert.equal(sum(4), Number(total['failed transactions']))
  })

  it('has the contracts of its page', () => {
    const counted = rows('Contracts').map(([name, address]) => {
      assert.equal(getAddress(address!), address)
      const own = address!.toLowerCase()
      const created = traces.filter(({ type, result }) => type === 'create' && result?.address === own)
      assert.equal(created.length, 1, name)
      return [name, address, String(created[0]!.blockNumber), String(logs.filter(log => log.address === own).length)]
    })
    assert.deepEqual(rows('Contracts'), counted)
  })

  it('has the tokens of its page, with their decimals', () => {
    const created = new Map<unknown, string>()
    for (const { block, receipts } of blocks) {
      for (const [i, { to, input }] of block.transactions.entries()) {
        if (to === null) created.set(receipts[i]!.contractAddress, input)
      }
    }
    const tokens = rows('Tokens')
    assert.deepEqual(
      tokens.map(([, symbol, decimals, , standard]) => `${symbol} ${decimals} ${standard}`),
      [
        'DUSD 6 ERC-20',
        'DBTC 8 ERC-20',
        'DGOV 18 ERC-20',
        'DPTS 0 ERC-20',
        'RELIC  ERC-20',
        'WETH 18 ERC-20',
        'BIRD  ERC-721',
        '  ERC-1155',
        'sDUSD 6 ERC-20',
        'UNI-V2 18 ERC-20',
        'UNI-V2 18 ERC-20',
        'UNI-V2 18 ERC-20',
        '$ CLAIM 18 ERC-20',
      ],
    )
    // The first four tell their decimals in the arguments that created them.
    for (const [name, symbol, decimals, address] of tokens.slice(0, 4)) {
      const args = encodeAbiParameters(
        [{ type: 'string' }, { type: 'string' }, { type: 'uint8' }],
        [name!, symbol!, Number(decimals)],
      )
      assert.ok(created.get(address!.toLowerCase())?.endsWith(args.slice(2)), name)
    }
    const contracts = new Set(rows('Contracts').map(([, address]) => address))
    for (const [name, , , address] of tokens) assert.ok(contracts.has(address), name)
    // The list is for the program, which has no node to ask.
    assert.deepEqual(
      parseTokens(text('demo-tokens.txt')).map(token => ({ ...token, address: getAddress(token.address) })),
      tokens
        .filter(([name, , decimals]) => decimals !== '' && name !== 'spam token')
        .map(([, symbol, decimals, address]) => ({ chainId: 31337, address, decimals: Number(decimals), symbol })),
    )
  })

  it('has the events of its page', () => {
    const counts = new Map<string, number>()
    for (const { topics } of logs) {
      const key = topics.length === 0 ? '' : `${topics[0]} ${topics.length}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const table = rows('Events')
    const unknown = table.pop()!
    const nameless = table.pop()!
    assert.deepEqual(nameless, ['no topic at all', '', '0', String(counts.get(''))])
    counts.delete('')
    for (const [event, topic0, topics, count] of table) {
      const signature = event!.replace(' (1)', '')
      // The page's own text hashes to its topic, and its indexed arguments are the topics.
      assert.equal(toEventSelector(`event ${signature}`), topic0, signature)
      assert.equal((signature.match(/ indexed/g) ?? []).length + 1, Number(topics), signature)
      assert.equal(counts.get(`${topic0} ${topics}`), Number(count), signature)
      counts.delete(`${topic0} ${topics}`)
    }
    const left = [...counts.values()].reduce((sum, count) => sum + count, 0)
    assert.deepEqual(unknown, ['under topics that no signature has', '', '', String(left)])
  })

  it('needs an ABI for the events of the harbor, and for no others', () => {
    const registry = new Set(
      text('events.txt')
        .split('\n')
        .filter(line => line.startsWith('0x'))
        .map(line => `${line.slice(0, 66)} ${1 + (line.match(/ indexed /g) ?? []).length}`),
    )
    for (const [event, topic0, topics] of rows('Events').slice(0, -2)) {
      assert.equal(registry.has(`${topic0} ${topics}`), !event!.endsWith(' (1)'), event)
    }
  })

  it('comes with the ABI that decodes them', () => {
    const abi = JSON.parse(text('demo-abi.json')) as Abi
    const [harbor] = rows('Contracts').filter(([name]) => name === 'Harbor')
    const ours = new Map(
      abi.flatMap(item =>
        item.type === 'event' && item.anonymous !== true ? [[toEventSelector(item), item.name]] : [],
      ),
    )
    const decoded = new Map<string, number>()
    for (const { address, topics, data } of logs) {
      if (address !== harbor![1]!.toLowerCase() || !ours.has(topics[0] as `0x${string}`)) continue
      const { eventName, args } = decodeEventLog({
        abi,
        topics: topics as [`0x${string}`],
        data: data as `0x${string}`,
      })
      assert.ok(args !== undefined)
      decoded.set(eventName!, (decoded.get(eventName!) ?? 0) + 1)
    }
    const promised = rows('Events').filter(([event]) => event!.endsWith(' (1)'))
    assert.deepEqual(
      Object.fromEntries(decoded),
      Object.fromEntries(promised.map(([event, , , count]) => [event!.split('(')[0], Number(count)])),
    )
    assert.equal(decoded.size, 4)
  })

  it('does in each block of its calendar what the page says', () => {
    const accounts = Object.fromEntries(rows('Accounts').map(([name, address]) => [name, word(address!)]))
    const contracts = Object.fromEntries(rows('Contracts').map(([name, address]) => [name, address!.toLowerCase()]))
    /** The logs of a block by signature, and by contract where one is named. */
    const has = (number: number, signature: string, contract?: string) =>
      blocks[number]!.receipts.flatMap(receipt => receipt.logs).filter(
        log => log.topics[0] === topic(signature) && (contract === undefined || log.address === contracts[contract]),
      )
    const typed = (number: number, type: string) => blocks[number]!.block.transactions.filter(tx => tx.type === type)
    const suicides = (number: number) => (blocks[number]!.traces as Trace[]).filter(({ type }) => type === 'suicide')
    const owners = (number: number, contract: string) =>
      has(number, 'OwnershipTransferred(address,address)', contract).map(({ topics }) => topics.slice(1))

    const shown: Record<number, () => void> = {
      60: () => assert.equal(has(60, 'OwnershipTransferStarted(address,address)', 'Demo Dollar').length, 1),
      66: () => assert.deepEqual(owners(66, 'Demo Dollar'), [[accounts.deployer, accounts.heidi]]),
      90: () => assert.equal(typed(90, '0x4').length, 1),
      120: () => assert.deepEqual(owners(120, 'Demo Birds'), [[accounts.deployer, accounts.dave]]),
      150: () => {
        assert.equal(has(150, 'Paused(address)', 'Demo Dollar').length, 1)
        assert.equal(has(154, 'Unpaused(address)', 'Demo Dollar').length, 1)
        for (const number of [151, 153]) assert.ok(blocks[number]!.receipts.some(({ status }) => status === '0x0'))
      },
      200: () => {
        const drops = blocks[200]!.receipts.map(
          ({ logs }) => logs.filter(({ address }) => address === contracts['Demo Points']).length,
        )
        assert.equal(Math.max(...drops), 40)
      },
      210: () => assert.equal(has(210, 'Transfer(address,address,uint256)', 'spam token').length, 12),
      240: () => {
        const [forged] = has(240, 'Transfer(address,address,uint256)', 'Harbor')
        assert.deepEqual(forged?.topics, [transferTopic, accounts.alice, accounts.bob])
        assert.ok(forged.data.length < 66)
      },
      256: () => {
        const mints = blocks[256]!.block.transactions.flatMap((tx, i) =>
          tx.to === contracts['Demo Birds'] && tx.input.startsWith('0xa0712d68') ? [blocks[256]!.receipts[i]!] : [],
        )
        assert.equal(mints.length, 48)
        assert.equal(mints.at(-1)!.status, '0x0')
        assert.equal(mints[0]!.status, '0x1')
      },
      280: () => {
        const [log] = has(280, 'Upgraded(address)', 'Harbor')
        assert.equal(log?.topics[1], word(contracts['Harbor, second code']!))
      },
      300: () => {
        const batch = 'TransferBatch(address,address,address,uint256[],uint256[])'
        assert.equal(has(300, batch, 'Demo Items').length, 1)
      },
      320: () => {
        const lists = typed(320, '0x4').map(tx => tx.authorizationList as { address: string }[])
        assert.deepEqual(
          lists.flat().map(({ address }) => address),
          [zeroAddress],
        )
      },
      333: () => {
        const swaps = has(333, 'Swap(address,uint256,uint256,uint256,uint256,address)', 'DUSD/WETH pair')
        // The dollar is the pair's first token; other swaps take 10,000 of them at most.
        assert.ok(swaps.some(({ data }) => BigInt(data.slice(0, 66)) > 100_000_000_000n))
      },
      350: () => {
        assert.ok(rows('Contracts').some(([name, , block]) => name === 'Fuse' && block === '350'))
        assert.equal(suicides(360).length, 1)
      },
      365: () => assert.equal(suicides(365).length, 1),
      370: () => {
        const created = blocks[370]!.block.transactions.findIndex(({ to }) => to === null)
        assert.equal(blocks[370]!.receipts[created]?.status, '0x0')
      },
      380: () => assert.deepEqual(owners(380, 'Demo Bitcoin'), [[accounts.deployer, word(zeroAddress)]]),
      400: () => assert.ok(has(400, 'Burn(address,uint256,uint256,address)', 'DUSD/WETH pair').length > 0),
    }
    assert.deepEqual(
      Object.keys(shown),
      rows('Blocks to look at').map(([block]) => block),
    )
    for (const show of Object.values(shown)) show()
    for (let number = 180; number < 190; number++) assert.equal(blocks[number]!.block.transactions.length, 0)
  })
})
