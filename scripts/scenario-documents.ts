/**
 * Writes the chain that the search scenarios are about: `test/scenario/blocks.ndjson`, a block pack of made-up blocks in which
 * everything is consistent (signed transactions, hashes, blooms), and `test/scenario/documents.json`, the documents as
 * they must come out of it. These are derived here a second time, with viem and without the program's own code.
 *
 *     node scripts/scenario-documents.ts
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type AbiEvent,
  type Address,
  bytesToHex,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  hexToBigInt,
  hexToBytes,
  hexToString,
  keccak256,
  numberToHex,
  pad,
  parseAbiItem,
  parseTransaction,
  type TransactionSerializable,
  toEventSelector,
  toHex,
  toRlp,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const CHAIN = 1
const people = [1, 2, 3, 4, 5].map(n => privateKeyToAccount(pad(numberToHex(n))))
const [alice, bob, carol, dave, erin] = people.map(account => account.address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
const USDC: Address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const WETH: Address = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'
const PAIR: Address = '0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc'
const POOL: Address = '0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640'
const NFT: Address = '0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D'
const NAMES: Address = '0x253553366Da8546fC250F225fe3d25d0C782303b'
const COIN = 10n ** 18n

/** Decimals of the emitting tokens. */
const DECIMALS: Record<Address, number> = { [USDC]: 6, [WETH]: 18, [PAIR]: 18 }

const EVENTS = {
  Transfer: 'event Transfer(address indexed from, address indexed to, uint256 value)',
  TransferNft: 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  Approval: 'event Approval(address indexed owner, address indexed spender, uint256 value)',
  ApprovalForAll: 'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  Deposit: 'event Deposit(address indexed dst, uint256 wad)',
  SwapV2:
    'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  SwapV3:
    'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  Sync: 'event Sync(uint112 reserve0, uint112 reserve1)',
  NameRegistered:
    'event NameRegistered(string name, bytes32 indexed label, address indexed owner, uint256 cost, uint256 expires)',
  URI: 'event URI(string value, uint256 indexed id)',
} as const
type EventName = keyof typeof EVENTS

/** Functions that the signature registry knows, by selector. */
const METHODS: Record<Hex, string> = {
  '0xa9059cbb': 'transfer',
  '0x022c0d9f': 'swap',
  '0x34fcd5be': 'executeBatch',
  '0x74694a2b': 'register',
}

// The story -----------------------------------------------------------------------------------------------------------

interface Log {
  address: Address
  topics: Hex[]
  data: Hex
  /** The event's declaration, where it is known. */
  event?: AbiEvent
  error?: string
}

interface Tx {
  from: number
  request: TransactionSerializable
  failed?: true
  gasUsed: bigint
  price: bigint
  logs?: Log[]
  /** Before Byzantium: a state root in place of the status. */
  root?: Hex
}

interface Block {
  number: number
  time: string
  miner: Address
  extra: Record<string, unknown>
  txs: Tx[]
}

const emit = (name: EventName, address: Address, args: Record<string, unknown>): Log => {
  const event = parseAbiItem(EVENTS[name]) as AbiEvent
  const plain = event.inputs.filter(input => !input.indexed)
  return {
    address,
    event,
    topics: encodeEventTopics({ abi: [event], eventName: event.name, args } as never) as Hex[],
    data: encodeAbiParameters(plain, plain.map(input => args[input.name!]) as never),
  }
}

const transferCall = (to: Address, value: bigint): Hex =>
  concatHex(['0xa9059cbb', encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [to, value])])

const london = {
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  nonce: '0x0000000000000000',
  difficulty: '0x0',
  totalDifficulty: '0xc70d815d562d3cfa955',
  uncles: [],
}

const authorization = await people[2]!.signAuthorization({ contractAddress: POOL, chainId: CHAIN, nonce: 7 })

const GWEI = 10n ** 9n

/** What a transaction did; `price` is in gwei. */
const tx = (
  from: number,
  request: TransactionSerializable,
  [gasUsed, price]: readonly [gasUsed: bigint, price: bigint],
  more: Pick<Tx, 'failed' | 'logs' | 'root'> = {},
): Tx => ({ from, request, gasUsed, price: price * GWEI, ...more })

/** The fees of a transaction with a fee market, in gwei. */
const fees = (most: bigint, priority: bigint) => ({
  chainId: CHAIN,
  maxFeePerGas: most * GWEI,
  maxPriorityFeePerGas: priority * GWEI,
})

const withdrawal = (index: Hex, validatorIndex: Hex, address: Address, amount: Hex) => ({
  ...{ index, validatorIndex, address: address.toLowerCase(), amount },
})

const cancun = (beacon: string, blobGasUsed: Hex) => ({
  ...{ ...london, baseFeePerGas: '0xba43b7400', blobGasUsed, excessBlobGas: '0x0' },
  parentBeaconBlockRoot: keccak256(toHex(beacon)),
})

const STORY: Block[] = [
  {
    ...{ number: 46147, time: '2015-08-07T03:30:33Z', miner: '0xe6A7a1d47ff21B6321162AEA7C6CB457D5476Bca' },
    extra: {
      ...{ ...london, nonce: '0xba4f8ecd18aab215', difficulty: '0x15ab1d81d8a', totalDifficulty: '0x6b8bd0a3fe2b1b4' },
      ...{ uncles: [keccak256(toHex('an uncle'))], extraData: '0x657468706f6f6c2e6f7267' },
    },
    txs: [
      tx(
        0,
        { type: 'legacy', gas: 21000n, gasPrice: 50000n * GWEI, nonce: 0, to: bob, value: 31337n },
        [21000n, 50000n],
        { root: keccak256(toHex('a state')) },
      ),
    ],
  },
  {
    ...{ number: 18908894, time: '2023-12-31T22:30:11Z', miner: dave },
    extra: { ...london, baseFeePerGas: '0x2cb417800', extraData: '0x6265617665726275696c642e6f7267', withdrawals: [] },
    txs: [
      tx(
        0,
        {
          ...{ type: 'legacy', chainId: CHAIN, gas: 25000n, gasPrice: 15n * GWEI, nonce: 1, to: bob },
          ...{ value: (3n * COIN) / 2n, data: '0x00' },
        },
        [21004n, 15n],
      ),
      tx(
        1,
        { type: 'eip1559', ...fees(30n, 1n), gas: 65000n, nonce: 12, to: USDC, data: transferCall(carol, 1234567n) },
        [48521n, 13n],
        { logs: [emit('Transfer', USDC, { from: bob, to: carol, value: 1234567n })] },
      ),
      tx(
        2,
        { type: 'eip1559', ...fees(30n, 2n), gas: 60000n, nonce: 6, to: USDC, data: transferCall(bob, 10n ** 24n) },
        [23456n, 14n],
        { failed: true },
      ),
    ],
  },
  {
    ...{ number: 18908895, time: '2023-12-31T23:59:59Z', miner: erin },
    extra: {
      ...{ ...london, baseFeePerGas: '0x2dd231b00', extraData: '0x' },
      withdrawals: [
        withdrawal('0x1b8b6b0', '0xd8b1a', alice, '0x113f2a0'),
        withdrawal('0x1b8b6b1', '0xd8b1b', erin, '0x1'),
      ],
    },
    txs: [
      tx(
        3,
        {
          ...{ type: 'legacy', chainId: CHAIN, gas: 900000n, gasPrice: 20n * GWEI, nonce: 0 },
          data: concatHex(['0x6080604052', pad('0x01', { size: 200 })]),
        },
        [812345n, 20n],
      ),
      tx(
        0,
        {
          ...{ type: 'eip2930', chainId: CHAIN, gas: 250000n, gasPrice: 21n * GWEI, nonce: 2, to: PAIR },
          ...{ value: 10n * COIN, data: '0x022c0d9f' },
          accessList: [
            { address: WETH, storageKeys: [pad('0x08'), keccak256(toHex('a slot'))] },
            { address: USDC, storageKeys: [] },
          ],
        },
        [143210n, 21n],
        {
          logs: [
            emit('Deposit', WETH, { dst: PAIR, wad: 10n * COIN }),
            emit('Transfer', USDC, { from: PAIR, to: alice, value: 22987654321n }),
            emit('Sync', PAIR, { reserve0: 31337000000n, reserve1: 13n * COIN }),
            emit('SwapV2', PAIR, {
              ...{ sender: alice, amount0In: 0n, amount1In: 10n * COIN },
              ...{ amount0Out: 22987654321n, amount1Out: 0n, to: alice },
            }),
          ],
        },
      ),
    ],
  },
  {
    ...{ number: 18908896, time: '2024-01-01T00:00:11Z', miner: dave },
    extra: { ...london, baseFeePerGas: '0x2b5e3af16', extraData: '0x6c69646f', withdrawals: [] },
    txs: [],
  },
  {
    ...{ number: 19333333, time: '2024-02-29T12:34:56Z', miner: dave },
    extra: { ...cancun('a beacon block', '0x40000'), extraData: '0x6265617665726275696c642e6f7267', withdrawals: [] },
    txs: [
      tx(
        4,
        {
          ...{ type: 'eip4844', ...fees(60n, 1n), gas: 22000n, maxFeePerBlobGas: GWEI, nonce: 3, to: carol },
          ...{ data: '0x01020304', sidecars: false },
          blobVersionedHashes: [
            `0x01${keccak256(toHex('a blob')).slice(4)}`,
            `0x01${keccak256(toHex('blob 2')).slice(4)}`,
          ],
        },
        [21064n, 51n],
      ),
      tx(
        1,
        {
          ...{ type: 'eip7702', ...fees(60n, 3n), gas: 300000n, nonce: 13, to: carol, value: 1n, data: '0x34fcd5be' },
          authorizationList: [authorization],
        },
        [222222n, 53n],
        {
          logs: [
            emit('TransferNft', NFT, { from: bob, to: carol, tokenId: 8520n }),
            emit('ApprovalForAll', NFT, { owner: bob, operator: POOL, approved: true }),
            emit('Approval', USDC, { owner: bob, spender: PAIR, value: 2n ** 256n - 1n }),
            emit('SwapV3', POOL, {
              ...{ sender: carol, recipient: bob, amount0: -5000000n, amount1: 9223372036854775807n },
              sqrtPriceX96: 1350174849792634181862360983626536n,
              ...{ liquidity: 9223372036854775808n, tick: -887272 },
            }),
            {
              ...emit('Approval', USDC, { owner: bob, spender: POOL, value: 1n }),
              data: '0x01',
              error: 'the data is shorter than the 32 bytes it must have',
            },
          ],
        },
      ),
      tx(
        2,
        {
          ...{ type: 'eip1559', ...fees(60n, 1n), gas: 200000n, nonce: 8, to: NAMES },
          ...{ value: 9223372036854775808n, data: '0x74694a2b' },
        },
        [187654n, 51n],
        {
          logs: [
            emit('NameRegistered', NAMES, {
              ...{ name: 'carol', label: keccak256(toHex('carol')), owner: carol },
              ...{ cost: 3162514612345678n, expires: 1740828896n },
            }),
            emit('URI', NFT, { value: `https://example.org/${'token'.repeat(30)}/{id}.json`, id: 7n }),
            { address: NAMES, topics: [keccak256(toHex('Unheard(uint256)'))], data: pad('0x2a') },
            { address: NAMES, topics: [], data: '0x00' },
          ],
        },
      ),
    ],
  },
  {
    ...{ number: 19333334, time: '2024-02-29T12:35:08Z', miner: erin },
    extra: { ...cancun('another beacon block', '0x0'), extraData: '0x6c69646f', withdrawals: [] },
    txs: [
      tx(
        0,
        { type: 'eip1559', ...fees(60n, 0n), gas: 65000n, nonce: 3, to: USDC, data: transferCall(bob, 0n) },
        [31000n, 50n],
        { logs: [emit('Transfer', USDC, { from: alice, to: bob, value: 0n })] },
      ),
    ],
  },
]

// The raw blocks ------------------------------------------------------------------------------------------------------

const hex = (value: bigint | number): Hex => numberToHex(value)
const lower = (value: string) => value.toLowerCase() as Hex

const bloomOf = (logs: readonly Log[]): Hex => {
  let bloom = 0n
  for (const value of logs.flatMap(log => [log.address, ...log.topics])) {
    const digest = hexToBytes(keccak256(lower(value)))
    for (const at of [0, 2, 4]) bloom |= 1n << BigInt(((digest[at]! << 8) | digest[at + 1]!) & 2047)
  }
  return pad(numberToHex(bloom), { size: 256 })
}

const HEADER = [
  'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed',
  'timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot',
]
  .join(' ')
  .split(' ')
/** Header fields that are numbers: without leading zeros in RLP. */
const NUMBERS = new Set(
  'difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas'.split(' '),
)

const headerHash = (header: Record<string, unknown>): Hex =>
  keccak256(
    toRlp(
      HEADER.filter(name => header[name] !== undefined).map(name => {
        const value = header[name] as Hex
        if (!NUMBERS.has(name)) return value
        return hexToBigInt(value) === 0n ? '0x' : bytesToHex(toBytesOf(value))
      }),
    ),
  )
const toBytesOf = (value: Hex) => hexToBytes(value.length % 2 === 0 ? value : `0x0${value.slice(2)}`)

type Wire = Record<string, unknown>
const blocks: { block: Wire; receipts: Wire[]; story: Block }[] = []

for (const story of STORY) {
  const { number } = story
  const previous = blocks.at(-1)
  const parentHash =
    previous?.story.number === number - 1 ? previous.block.hash : keccak256(toHex(`the block before ${number}`))
  const allLogs = story.txs.flatMap(tx => tx.logs ?? [])
  const { withdrawals } = story.extra
  const header: Wire = {
    number: hex(number),
    parentHash,
    miner: lower(story.miner),
    timestamp: hex(Date.parse(story.time) / 1000),
    stateRoot: keccak256(toHex(`state ${number}`)),
    transactionsRoot: keccak256(toHex(`transactions ${number}`)),
    receiptsRoot: keccak256(toHex(`receipts ${number}`)),
    mixHash: keccak256(toHex(`mix ${number}`)),
    logsBloom: bloomOf(allLogs),
    gasLimit: hex(30_000_000),
    gasUsed: hex(story.txs.reduce((sum, tx) => sum + tx.gasUsed, 0n)),
    size: hex(600 + 200 * story.txs.length),
    ...story.extra,
    ...(withdrawals !== undefined && {
      withdrawalsRoot: keccak256(toHex(`withdrawals ${JSON.stringify(withdrawals)}`)),
    }),
  }
  const hash = headerHash(header)

  const transactions: Wire[] = []
  const receipts: Wire[] = []
  let cumulative = 0n
  let logIndex = 0
  for (const [i, tx] of story.txs.entries()) {
    const account = people[tx.from]!
    const serialized = await account.signTransaction(tx.request)
    const signed = parseTransaction(serialized as `0x02${string}`) as Wire & { v?: bigint; yParity?: number }
    const request = tx.request as Wire
    const where = { blockHash: hash, blockNumber: hex(number), transactionIndex: hex(i) }
    const type = { legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 }[tx.request.type as 'legacy']
    const transactionHash = keccak256(serialized)
    const nonce = BigInt(request.nonce as number)
    transactions.push({
      ...where,
      hash: transactionHash,
      type: hex(type),
      from: lower(account.address),
      to: request.to === undefined ? null : lower(request.to as string),
      value: hex((request.value as bigint | undefined) ?? 0n),
      input: (request.data as Hex | undefined) ?? '0x',
      nonce: hex(nonce),
      gas: hex(request.gas as bigint),
      gasPrice: hex(tx.price),
      ...(request.chainId !== undefined && { chainId: hex(CHAIN) }),
      ...(request.maxFeePerGas !== undefined && {
        maxFeePerGas: hex(request.maxFeePerGas as bigint),
        maxPriorityFeePerGas: hex(request.maxPriorityFeePerGas as bigint),
      }),
      ...(request.maxFeePerBlobGas !== undefined && {
        maxFeePerBlobGas: hex(request.maxFeePerBlobGas as bigint),
        blobVersionedHashes: request.blobVersionedHashes,
      }),
      ...(type > 0 && {
        accessList: ((request.accessList as { address: Address; storageKeys: Hex[] }[] | undefined) ?? []).map(
          item => ({
            address: lower(item.address),
            storageKeys: item.storageKeys,
          }),
        ),
        yParity: hex(signed.yParity!),
      }),
      ...(request.authorizationList !== undefined && {
        authorizationList: [
          {
            chainId: hex(authorization.chainId),
            address: lower(authorization.address),
            nonce: hex(authorization.nonce),
            yParity: hex(authorization.yParity!),
            r: trim(authorization.r),
            s: trim(authorization.s),
          },
        ],
      }),
      v: hex(type > 0 ? signed.yParity! : (signed.v as bigint)),
      r: trim(signed.r as Hex),
      s: trim(signed.s as Hex),
    })
    cumulative += tx.gasUsed
    receipts.push({
      ...where,
      transactionHash,
      from: lower(account.address),
      to: request.to === undefined ? null : lower(request.to as string),
      contractAddress:
        request.to === undefined
          ? `0x${keccak256(toRlp([account.address, nonce === 0n ? '0x' : hex(nonce)])).slice(26)}`
          : null,
      cumulativeGasUsed: hex(cumulative),
      gasUsed: hex(tx.gasUsed),
      effectiveGasPrice: hex(tx.price),
      type: hex(type),
      logsBloom: bloomOf(tx.logs ?? []),
      ...(tx.root === undefined ? { status: tx.failed ? '0x0' : '0x1' } : { root: tx.root }),
      logs: (tx.logs ?? []).map(log => ({
        ...where,
        transactionHash,
        address: lower(log.address),
        topics: log.topics,
        data: log.data,
        logIndex: hex(logIndex++),
        removed: false,
      })),
    })
  }
  blocks.push({ block: { hash, ...header, transactions }, receipts, story })
}

function trim(value: Hex): Hex {
  return numberToHex(hexToBigInt(value))
}

// The documents -------------------------------------------------------------------------------------------------------

const GREATEST = 2n ** 63n - 1n
const long = (value: bigint) => (value > GREATEST || value < -GREATEST - 1n ? null : value)
const quantity = (value: unknown) => ({ num: long(BigInt(value as Hex)), raw: hex(BigInt(value as Hex)) })
const padded = (value: unknown) => pad(hex(BigInt(value as Hex)), { size: 32 })
const wide = (value: unknown) => ({ padded: padded(value), raw: hex(BigInt(value as Hex)) })
const amount = (value: unknown) => {
  const number = BigInt(value as Hex)
  return { num: long(number), coin: Number(`${number}e-18`), padded: padded(value), raw: hex(number) }
}
const checksum = (value: unknown) => (value === null ? null : getAddress(value as Address))
const seconds = (value: unknown) => Number(value as Hex)
const boolean = (value: unknown) => value === '0x1'

const MAKERS: Record<string, (value: unknown) => unknown> = {
  ...{ quantity, wide, amount, checksum, seconds, boolean },
  holders: list => (list as Wire[]).map(item => ({ ...item, address: checksum(item.address) })),
}

/** The fields that are present, each by its maker; without one, as it is. */
const fields = (wire: Wire, ...makers: string[]): Wire =>
  Object.fromEntries(
    makers
      .flatMap(line => line.split(' '))
      .flatMap(field => {
        const [name = '', maker] = field.split(':')
        const value = wire[name]
        return value === undefined ? [] : [[name, maker === undefined ? value : MAKERS[maker]!(value)]]
      }),
  )

const minimal = (value: bigint, bits: number) => hex(BigInt.asUintN(bits, value))

const argOf = (log: Log, type: string, value: unknown, isHash: boolean) => {
  const decimals = DECIMALS[log.address]
  const none = { num: null, scaled: null, type }
  if (isHash) return { hex: value, ...none }
  const bits = /^u?int(\d+)$/.exec(type)?.[1]
  if (bits !== undefined) {
    const number = BigInt(value as bigint | number)
    const scaled = decimals === undefined ? null : Number(`${number}e-${decimals}`)
    return { hex: minimal(number, Number(bits)), num: long(number), scaled, type }
  }
  if (type === 'bool') return { hex: value ? '0x1' : '0x0', num: value ? 1n : 0n, scaled: null, type }
  if (type === 'address') return { hex: getAddress(value as Address), ...none }
  return { hex: type === 'string' ? toHex(value as string) : value, ...none }
}

const argsOf = (log: Log): Wire[] => {
  if (log.error !== undefined) return []
  const inputs = log.event!.inputs
  const plain = decodeAbiParameters(
    inputs.filter(input => !input.indexed),
    log.data,
  ) as unknown[]
  let topic = 1
  let next = 0
  return inputs.map((input, pos) => {
    const dynamic = input.type === 'string' || input.type === 'bytes'
    const value = !input.indexed
      ? plain[next++]
      : dynamic
        ? log.topics[topic++]
        : decodeAbiParameters([input], log.topics[topic++]!)[0]
    return { name: input.name, pos, value: argOf(log, input.type, value, input.indexed === true && dynamic) }
  })
}

const shown = ({ name, value }: Wire) => {
  const { hex: text, type } = value as { hex: Hex; type: string }
  const bits = /^(u?)int(\d+)$/.exec(type)
  if (type === 'bool') return `${name}=${text === '0x1'}`
  if (type === 'string') return `${name}=${JSON.stringify(hexToString(text))}`
  if (!bits) return `${name}=${text}`
  const number = hexToBigInt(text)
  return `${name}=${bits[1] === 'u' ? number : BigInt.asIntN(Number(bits[2]), number)}`
}

const documents: Record<'block' | 'tx' | 'log' | 'event', { _id: string; _source: Wire }[]> = {
  block: [],
  tx: [],
  log: [],
  event: [],
}

const OF_RECEIPT = 'contractAddress cumulativeGasUsed gasUsed logsBloom root status effectiveGasPrice'.split(' ')

for (const { block, receipts, story } of blocks) {
  const transactions = block.transactions as Wire[]
  documents.block.push({
    _id: block.hash as string,
    _source: {
      ...fields(
        { ...block, miningNonce: block.nonce, transactions: transactions.map(tx => tx.hash) },
        'number:quantity hash parentHash miner:checksum timestamp:seconds miningNonce mixHash sha3Uncles logsBloom',
        'transactionsRoot stateRoot receiptsRoot extraData size:quantity gasLimit:quantity gasUsed:quantity',
        'difficulty:wide totalDifficulty:wide baseFeePerGas:quantity blobGasUsed:quantity excessBlobGas:quantity',
        'withdrawalsRoot parentBeaconBlockRoot transactions uncles withdrawals:holders',
      ),
    },
  })
  for (const [i, tx] of transactions.entries()) {
    const receipt = receipts[i]!
    const method = METHODS[(tx.input as string).slice(0, 10) as Hex]
    documents.tx.push({
      _id: tx.hash as string,
      _source: {
        ...fields(
          {
            ...{ ...tx, timestamp: block.timestamp },
            ...Object.fromEntries(OF_RECEIPT.map(name => [name, receipt[name]])),
          },
          'blockHash blockNumber:quantity contractAddress:checksum cumulativeGasUsed:quantity from:checksum gas:quantity',
          'gasPrice:quantity gasUsed:quantity hash input logsBloom nonce:quantity r root s v status:boolean',
          'timestamp:seconds to:checksum transactionIndex:quantity value:amount type:quantity maxFeePerGas:quantity',
          'maxPriorityFeePerGas:quantity effectiveGasPrice:quantity chainId:quantity yParity accessList:holders',
          'maxFeePerBlobGas:quantity blobVersionedHashes authorizationList:holders',
        ),
        ...(method !== undefined && { method }),
        // Without traces, gas alone tells.
        ...(receipt.status === '0x0' && {
          error: receipt.gasUsed === tx.gas ? 'Out of gas, or bad instruction' : 'Reverted',
        }),
      },
    })
    for (const [l, wire] of (receipt.logs as Wire[]).entries()) {
      const log = story.txs[i]!.logs![l]!
      const index = Number(wire.logIndex as Hex)
      const place = {
        logIndex: quantity(wire.logIndex),
        transactionIndex: quantity(wire.transactionIndex),
        transactionHash: tx.hash,
        blockHash: block.hash,
        blockNumber: quantity(block.number),
        timestamp: story.time.slice(0, 19),
      }
      documents.log.push({
        _id: `${tx.hash}_l_${index}`,
        _source: {
          address: log.address,
          topics: log.topics,
          ...(log.topics.length > 0 && { signature: log.topics[0] }),
          data: log.data,
          ...place,
          removed: false,
        },
      })
      if (log.event === undefined) continue
      if (toEventSelector(log.event) !== log.topics[0]) throw new Error(`${log.event.name} has another topic`)
      const args = argsOf(log)
      documents.event.push({
        _id: `${tx.hash}_e_${index}`,
        _source: {
          event: log.event.name,
          args,
          ...place,
          address: log.address,
          error: log.error ?? null,
          str: log.error === undefined ? `${log.event.name}(${args.map(shown).join(', ')})` : null,
          probability: 0.9,
        },
      })
    }
  }
}

// Both files ----------------------------------------------------------------------------------------------------------

const raw = (value: bigint) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value))
const json = (value: unknown) => JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? raw(inner) : inner))
const folder = new URL('../test/scenario/', import.meta.url)
writeFileSync(
  new URL('blocks.ndjson', folder),
  blocks.map(({ block, receipts }) => `${json({ chainId: CHAIN, block, receipts })}\n`).join(''),
)
const path = fileURLToPath(new URL('documents.json', folder))
writeFileSync(path, json(documents))
execFileSync('npx', ['biome', 'format', '--write', path])
