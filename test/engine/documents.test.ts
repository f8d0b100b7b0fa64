import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type AbiParameter,
  decodeAbiParameters,
  encodeAbiParameters,
  formatEther,
  formatUnits,
  getAddress,
  type Hex,
  pad,
} from 'viem'
import type { RawBlock, RpcLog } from '../../src/chain/wire.ts'
import type { AbiParam, EventAbi } from '../../src/decode/types.ts'
import { hasMainnet } from '../support/pack.ts'
import {
  candidatesOf,
  createTestStore,
  decimalsOf,
  demoBlocks,
  demoEvents,
  excerptOf,
  failuresOf,
  generatedBlocks,
  METHODS,
  mainnetBlocks,
} from '../support/store.ts'

// What documents must hold, worked out from the raw JSON by the words of the design and with viem's decoder.

type Source = Record<string, unknown>
type Show = (value: never) => unknown

const integer = (value: bigint): number | bigint | null =>
  value >= 2n ** 63n || value < -(2n ** 63n) ? null : Number.isSafeInteger(Number(value)) ? Number(value) : value
const quantity = (hex: Hex) => ({ num: integer(BigInt(hex)), raw: `0x${BigInt(hex).toString(16)}` })
const wide = (hex: Hex) => ({
  padded: pad(`0x${BigInt(hex).toString(16)}`, { size: 32 }),
  raw: `0x${BigInt(hex).toString(16)}`,
})
const amount = (hex: Hex) => ({ ...quantity(hex), ...wide(hex), coin: Number(formatEther(BigInt(hex))) })
const same = (value: unknown) => value
const seconds = (hex: string) => Number.parseInt(hex, 16)
const datetime = (hex: string) => new Date(seconds(hex) * 1000).toISOString().replace(/\.000Z$/, '')
const truth = (hex: Hex) => hex === '0x1'

const withdrawals = (items: Record<string, Hex>[]) =>
  items.map(({ index, validatorIndex, validator_index, address, amount }) => ({
    index,
    validatorIndex: validatorIndex ?? validator_index,
    address: getAddress(address!),
    amount,
  }))
const accessList = (items: { address: Hex; storageKeys: Hex[] }[]) =>
  items.map(({ address, storageKeys }) => ({ address: getAddress(address), storageKeys }))
const authorizationList = (items: Record<string, Hex>[]) =>
  items.map(({ chainId, address, nonce, yParity, r, s }) => ({
    chainId,
    address: getAddress(address!),
    nonce,
    yParity,
    r,
    s,
  }))

const pick = (from: Record<string, unknown>, shows: Record<string, [wire: string, show: Show]>): Source => {
  const source: Source = {}
  for (const [name, [wire, show]] of Object.entries(shows)) {
    const value = from[wire]
    if (value !== undefined) source[name] = value === null ? null : show(value as never)
  }
  return source
}

const all = (show: Show, ...names: string[]) =>
  Object.fromEntries(names.map(name => [name, [name, show] as [string, Show]]))

const blockSource = ({ block }: RawBlock): Source => ({
  ...pick(block, {
    ...all(quantity, 'number', 'size', 'gasLimit', 'gasUsed', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'),
    ...all(same, 'hash', 'parentHash', 'mixHash', 'sha3Uncles', 'logsBloom', 'transactionsRoot', 'stateRoot'),
    ...all(same, 'requestsHash', 'receiptsRoot', 'extraData', 'withdrawalsRoot', 'parentBeaconBlockRoot', 'uncles'),
    ...all(getAddress, 'miner'),
    ...all(seconds, 'timestamp'),
    ...all(wide, 'difficulty', 'totalDifficulty'),
    ...all(withdrawals, 'withdrawals'),
    miningNonce: ['nonce', same],
  }),
  transactions: block.transactions.map(tx => tx.hash),
})

const txSource = (raw: RawBlock, i: number): Source => {
  const { block, receipts } = raw
  const tx = block.transactions[i]!
  const method = tx.to === null ? undefined : METHODS[tx.input.slice(0, 10)]
  return {
    ...pick(tx, {
      ...all(
        same,
        'hash',
        'blockHash',
        'publicKey',
        'creates',
        'input',
        'r',
        's',
        'v',
        'yParity',
        'blobVersionedHashes',
      ),
      ...all(getAddress, 'from', 'to'),
      ...all(quantity, 'blockNumber', 'gas', 'gasPrice', 'nonce', 'transactionIndex', 'type', 'chainId'),
      ...all(quantity, 'maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'),
      ...all(amount, 'value'),
      ...all(accessList, 'accessList'),
      ...all(authorizationList, 'authorizationList'),
    }),
    ...pick(receipts[i]!, {
      ...all(getAddress, 'contractAddress'),
      ...all(quantity, 'blobGasUsed', 'blobGasPrice', 'cumulativeGasUsed', 'gasUsed', 'effectiveGasPrice'),
      ...all(same, 'logsBloom', 'root'),
      ...all(truth, 'status'),
    }),
    timestamp: seconds(block.timestamp),
    ...(method === undefined ? {} : { method }),
    ...pick(
      { ...failuresOf(raw).txs[i] },
      {
        ...all(same, 'error', 'revertReason', 'revertName', 'revertData', 'revertTrace'),
        ...all(getAddress, 'revertAddress'),
      },
    ),
  }
}

const logSource = ({ block }: RawBlock, log: RpcLog): Source => ({
  ...pick(log, {
    ...all(getAddress, 'address'),
    ...all(same, 'topics', 'data', 'transactionHash', 'blockHash'),
    ...all(quantity, 'logIndex', 'transactionIndex', 'blockNumber'),
  }),
  ...(log.topics.length > 0 ? { signature: log.topics[0] } : {}),
  timestamp: datetime(block.timestamp),
  removed: false,
})

interface Decoded {
  event: EventAbi
  probability: number
  /** Undefined where no declaration fits the log. */
  values: unknown[] | undefined
}

const isValueType = ({ type }: AbiParam) => /^(address|bool|u?int\d+|bytes\d+)$/.test(type)

/** Strings are read as bytes: the chain's need not be UTF-8. */
const asBytes = (param: AbiParam): AbiParameter =>
  ({
    ...param,
    type: param.type.replace(/^string/, 'bytes'),
    ...(param.components && { components: param.components.map(asBytes) }),
  }) as AbiParameter

const decodeBy = (event: EventAbi, log: RpcLog): unknown[] | undefined => {
  const plain = event.inputs.filter(input => !input.indexed).map(asBytes)
  try {
    const values = [...decodeAbiParameters(plain, log.data as Hex)]
    if (plain.length === 0 ? log.data !== '0x' : encodeAbiParameters(plain, values) !== (log.data as Hex))
      return undefined
    let topic = 1
    return event.inputs.map(input => {
      if (!input.indexed) return values.shift()
      const word = log.topics[topic++] as Hex
      if (!isValueType(input)) return word
      const [value] = decodeAbiParameters([asBytes(input)], word)
      if (encodeAbiParameters([asBytes(input)], [value]) !== word) throw new Error('dirty topic')
      return value
    })
  } catch {
    return undefined
  }
}

const decode = (log: RpcLog, events: readonly EventAbi[]): Decoded | undefined => {
  if (log.topics.length === 0) return undefined
  const candidates = candidatesOf(log.topics[0]!, log.topics.length - 1, events)
  for (const { event, probability } of candidates) {
    const values = decodeBy(event, log)
    if (values) return { event, probability, values }
  }
  const [first] = candidates
  return first && { ...first, values: undefined }
}

const spelt = ({ type, components }: AbiParam): string =>
  components ? type.replace('tuple', `(${components.map(spelt).join(',')})`) : type

const hexOf = (param: AbiParam, value: unknown): string => {
  if (param.indexed && !isValueType(param)) return value as string
  if (param.type === 'address') return getAddress(value as string)
  if (param.type === 'bool') return value ? '0x1' : '0x0'
  const width = /^u?int(\d+)$/.exec(param.type)?.[1]
  if (width) return `0x${BigInt.asUintN(Number(width), BigInt(value as number)).toString(16)}`
  if (/^(bytes\d*|string)$/.test(param.type)) return value as string
  return encodeAbiParameters([asBytes(param)], [value])
}

const argument = (param: AbiParam, pos: number, value: unknown, decimals: number | undefined) => {
  const int = /^u?int/.test(param.type) && isValueType(param) ? BigInt(value as number) : undefined
  return {
    name: param.name,
    pos,
    value: {
      hex: hexOf(param, value),
      num: int !== undefined ? integer(int) : param.type === 'bool' ? Number(value) : null,
      scaled: int === undefined || decimals === undefined ? null : Number(formatUnits(int, decimals)),
      type: spelt(param),
    },
  }
}

/** As the text shows it, uncut. */
const rendered = (param: AbiParam, value: unknown): string => {
  if (param.indexed && !isValueType(param)) return value as string
  const array = /^(.*)\[\d*\]$/.exec(param.type)
  if (array) {
    const element = { ...param, type: array[1]! }
    return `[${(value as unknown[]).map(item => rendered(element, item)).join(', ')}]`
  }
  if (param.type === 'tuple') {
    const parts = param.components!.map((component, i) => {
      const part = Array.isArray(value) ? value[i] : (value as Record<string, unknown>)[component.name]
      return `${component.name || i}=${rendered(component, part)}`
    })
    return `(${parts.join(', ')})`
  }
  if (param.type === 'address') return getAddress(value as string)
  if (param.type === 'string')
    return JSON.stringify(Buffer.from((value as string).slice(2), 'hex').toString()).replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      character =>
        Array.from(
          { length: character.length },
          (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
        ).join(''),
    )
  return String(value)
}

const eventSource = (raw: RawBlock, log: RpcLog, { event, probability, values }: Decoded): Source => {
  const { topics: _, signature, data, removed, ...common } = logSource(raw, log)
  const decimals = decimalsOf(raw.chainId!, log.address)
  return {
    ...common,
    event: event.name,
    args: values?.map((value, pos) => argument(event.inputs[pos]!, pos, value, decimals)) ?? [],
    probability,
  }
}

/** Decimals are asked for where there is an integer or a boolean. */
const decodingOf = (raw: RawBlock, log: RpcLog, { event: { inputs }, values }: Decoded) => {
  const scales = values && inputs.some(({ type }) => /^(bool|u?int\d+)$/.test(type))
  return { inputs, decimals: (scales ? decimalsOf(raw.chainId!, log.address) : undefined) ?? null }
}

const checkStr = (str: unknown, { event, values }: Decoded, id: string) => {
  if (!values) return assert.equal(str, null, id)
  const parts = values.map((value, i) => `${event.inputs[i]!.name || i}=${rendered(event.inputs[i]!, value)}`)
  const whole = `${event.name}(${parts.join(', ')})`
  // How long parts are cut is tested where they are rendered.
  if (values.every((value, i) => rendered(event.inputs[i]!, value).length <= 256) && whole.length <= 1000)
    assert.equal(str, whole, id)
  else assert.ok(typeof str === 'string' && str.startsWith(`${event.name}(`) && str.includes('…'), id)
}

interface Counts {
  failures: number
  decoded: number
}

/** Holds every document of these blocks against the raw JSON. */
const checkDocuments = (blocks: readonly RawBlock[], events: readonly EventAbi[] = []): Counts => {
  const store = createTestStore(blocks, { events, run: [1, 3, 2, 5] })
  const counts = { failures: 0, decoded: 0 }
  try {
    const found = {
      block: store.all('block'),
      tx: store.all('tx'),
      log: store.all('log'),
      event: store.all('event'),
    }
    const next = { block: 0, tx: 0, log: 0, event: 0 }
    for (const raw of blocks) {
      const { block, receipts } = raw
      const up = { _routing: block.hash, _parent: block.hash }
      assert.deepStrictEqual(found.block[next.block++], { _id: block.hash, _source: blockSource(raw) })
      for (const [i, { hash }] of block.transactions.entries()) {
        assert.deepStrictEqual(found.tx[next.tx++], { _id: hash, ...up, _source: txSource(raw, i) })
        for (const log of receipts[i]!.logs) {
          const above = { _routing: block.hash, _parent: hash }
          const index = Number(log.logIndex)
          assert.deepStrictEqual(found.log[next.log++], {
            _id: `${hash}_l_${index}`,
            ...above,
            _source: logSource(raw, log),
          })
          const decoded = decode(log, events)
          if (!decoded) continue
          const document = found.event[next.event++]!
          const { str, error, ...source } = document._source
          const _id = `${hash}_e_${index}`
          // An encoding that is not viem's own may decode all the same: the declaration tells by which rules.
          if (!decoded.values && error === null) continue
          assert.deepStrictEqual(
            { ...document, _source: source },
            { _id, ...above, _source: eventSource(raw, log, decoded), decoding: decodingOf(raw, log, decoded) },
          )
          if (decoded.values) assert.equal(error, null)
          else assert.match(String(error), /^[ -~]{10,}$/)
          checkStr(str, decoded, _id)
          if (decoded.values) counts.decoded++
          else counts.failures++
        }
      }
    }
    for (const kind of ['block', 'tx', 'log', 'event'] as const) assert.equal(found[kind].length, next[kind], kind)
    return counts
  } finally {
    store.close()
  }
}

describe('documents rebuilt from the store', () => {
  it('hold what real mainnet blocks hold', { skip: !hasMainnet && 'no mainnet blocks at hand' }, () => {
    const { decoded } = checkDocuments(mainnetBlocks())
    assert.ok(decoded > 900, `${decoded}`)
  })

  it('hold what made-up blocks of mainnet’s shape hold', () => {
    const { decoded } = checkDocuments(generatedBlocks(20))
    assert.ok(decoded > 5000, `${decoded}`)
  })

  it('hold what the demo chain holds, odd events and failures included', () => {
    const { decoded, failures } = checkDocuments(demoBlocks(), demoEvents())
    assert.ok(decoded > 2700 && failures > 0, `${decoded} decoded, ${failures} failures`)
  })

  it('keep the places of an excerpt’s transactions and logs', () => {
    const blocks = generatedBlocks(4).map((raw, i) => excerptOf(raw, index => i === 2 || index % 7 === i))
    checkDocuments(blocks)
  })

  it('show a zero of which a node wrote no digit as any other zero', () => {
    const [raw] = demoBlocks().filter(({ block }) => block.transactions.length > 0)
    const documents = (zero: string) => {
      const written = structuredClone(raw!)
      Object.assign(written.block, { difficulty: zero, baseFeePerGas: zero })
      Object.assign(written.block.transactions[0]!, { value: zero, nonce: zero, gasPrice: zero })
      const store = createTestStore([written])
      try {
        return [...store.all('block'), ...store.all('tx'), ...store.all('call')]
      } finally {
        store.close()
      }
    }
    assert.deepEqual(documents('0x'), documents('0x0'))
  })

  it('hold what unusual nodes send: nulls, padded and long numbers, members that others lack', () => {
    const [raw] = generatedBlocks(1)
    const { block, receipts } = raw!
    Object.assign(block, {
      miner: null,
      baseFeePerGas: null,
      totalDifficulty: null,
      mixHash: null,
      size: `0x${'f'.repeat(64)}`,
      gasLimit: '0x1fffffffffffff',
      gasUsed: '0x7fffffffffffffff',
      blobGasUsed: '0x8000000000000000',
      difficulty: '0x20000000000000',
      uncles: [`0x${'12'.repeat(32)}`, `0x${'01'.repeat(32)}`],
      withdrawals: null,
      extraData: '0x',
    })
    const change = (i: number, members: Record<string, unknown>) => Object.assign(block.transactions[i]!, members)
    change(0, { v: '0x00', r: `0x00${'ab'.repeat(31)}`, s: '0x07aabbccddeeff11', yParity: '0x1', publicKey: '0x04ab' })
    change(1, { v: null, r: '0x0', s: `0x${'1'.repeat(63)}`, creates: `0x${'ab'.repeat(20)}`, maxFeePerGas: null })
    change(2, { v: '0x01', chainId: '0xffffffffffffffff', accessList: null, blobVersionedHashes: null, value: '0x0' })
    change(3, { accessList: [], blobVersionedHashes: [], authorizationList: [], value: `0x${'f'.repeat(64)}` })
    change(4, {
      input: `0x${'00'.repeat(40)}`,
      accessList: [{ address: block.transactions[0]!.from, storageKeys: [] }],
      authorizationList: [
        {
          chainId: '0x0',
          address: block.transactions[0]!.from,
          nonce: '0xffffffffffffffff',
          yParity: '0x0',
          r: `0x${'1'.repeat(63)}`,
          s: '0x1',
        },
      ],
    })
    Object.assign(receipts[0]!, { status: null, root: `0x${'cd'.repeat(32)}`, effectiveGasPrice: null })
    Object.assign(receipts[1]!, { logsBloom: null, contractAddress: block.transactions[0]!.from })
    Object.assign(receipts[2]!, { logsBloom: `0x${'0'.repeat(511)}1` })
    delete receipts[3]!.logsBloom
    delete receipts[3]!.status
    checkDocuments([raw!])
  })
})
