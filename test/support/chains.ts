import type { RawBlock, RpcTransaction } from '../../src/chain/wire.ts'
import { isList, type Kind, MAPPING } from '../../src/mapping/index.ts'

/**
 * Blocks of chains that are not Ethereum, as their nodes tell them. What was found in public repositories is named at each block; what a
 * published answer left out was filled in by the chain's specification.
 */

const NO_BLOOM = `0x${'0'.repeat(512)}`
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
const unsigned = { v: '0x0', r: '0x0', s: '0x0' }

const placed = (block: { hash: string; number: string }, index: number) => ({
  blockHash: block.hash,
  blockNumber: block.number,
  transactionIndex: `0x${index.toString(16)}`,
})

/**
 * An OP stack chain’s block 274, whole: header and deposit are in the tests of nlordell/ethrpc (src/batch.rs). Its receipt is by the
 * specification: it is the only one, so its gas is the block's.
 */
const opHead = {
  hash: '0xfc70e073ec6e1bb7f387698e4be418d7b1ff2216f625cdf41e1b80fb08029ef5',
  number: '0x112',
}
export const opBlock: RawBlock = {
  chainId: 10,
  block: {
    ...opHead,
    parentHash: '0xcfbc479d5f63476538db9ff15295167a6e91ecc9d6cf54be471eded689c251c9',
    baseFeePerGas: '0x1418f329',
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: '0x1c9c380',
    gasUsed: '0xb76d',
    logsBloom: NO_BLOOM,
    miner: '0x4200000000000000000000000000000000000011',
    mixHash: '0x8bc8a48326d9309959f2452206c1c842be9fcc9840c789845caab9d290a9700c',
    nonce: '0x0000000000000000',
    receiptsRoot: '0x8c303881b3e408cc739f55ef3e5133075d552cbec9ee987aff6b71f58cf291ee',
    sha3Uncles: NO_UNCLES,
    size: '0x38a',
    stateRoot: '0x86be45fb7a22b8c12cbce8d538372b800377cc589de590b6d88f5f65dde97df8',
    timestamp: '0x65da607b',
    totalDifficulty: '0x0',
    transactions: [
      {
        ...placed(opHead, 0),
        from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
        gas: '0xf4240',
        gasPrice: '0x0',
        hash: '0x13a644af4f64ce801dcd57faa823e8952f2290b810fdd31995dda62977ed3df1',
        input:
          '0x015d8eb90000000000000000000000000000000000000000000000000000000001267f330000000000000000000000000000000000000000000000000000000065da6073000000000000000000000000000000000000000000000000000000075d3f861097c24796a4f639846a6a3ea3a59c11de8d89e11f551bae8feca9271a78926d420000000000000000000000000000000000000000000000000000000000000004000000000000000000000000415c8893d514f9bc5211d36eeda4183226b84aa700000000000000000000000000000000000000000000000000000000000000bc00000000000000000000000000000000000000000000000000000000000a6fe0',
        nonce: '0x111',
        to: '0x4200000000000000000000000000000000000015',
        value: '0x0',
        type: '0x7e',
        ...unsigned,
        sourceHash: '0x5a1b66228a26547e2ce6fe1aa734d2c34e062e42ccd5710463e6987890f1ad5d',
        mint: '0x0',
        depositReceiptVersion: '0x1',
      },
    ],
    transactionsRoot: '0xb01a2ad2c1ceb76f2edcdc02f2e0453c52e24c421fb04132cdfc0da5b70a593e',
    uncles: [],
    withdrawals: [],
    withdrawalsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  },
  receipts: [
    {
      ...placed(opHead, 0),
      transactionHash: '0x13a644af4f64ce801dcd57faa823e8952f2290b810fdd31995dda62977ed3df1',
      type: '0x7e',
      from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
      to: '0x4200000000000000000000000000000000000015',
      contractAddress: null,
      status: '0x1',
      gasUsed: '0xb76d',
      cumulativeGasUsed: '0xb76d',
      effectiveGasPrice: '0x0',
      logs: [],
      logsBloom: NO_BLOOM,
      depositNonce: '0x111',
      depositReceiptVersion: '0x1',
      l1GasPrice: '0x75d3f8610',
      l1GasUsed: '0x13c4',
      l1Fee: '0x0',
      l1FeeScalar: '0.684',
    },
  ],
}

/**
 * Block 350,791,066 of Arbitrum One, cut down to its first transaction: its header and transactions are in the tests of erpc/erpc. The
 * receipt is by the specification, as one of its type is published in the docs of blockpi.
 */
const arbitrumHead = {
  hash: '0x095e8f52e77f0add52fc6cf2f3f04ceb72462dbf54bab11544e7227415aeabd5',
  number: '0x14e8a59a',
}
export const arbitrumBlock: RawBlock = {
  chainId: 42_161,
  block: {
    ...arbitrumHead,
    parentHash: '0xeea5e5abd449dcc96b06dc7fcf1d11e19b6ed31d1c568f83e21e4e80b6e97db2',
    baseFeePerGas: '0x989680',
    difficulty: '0x1',
    extraData: '0xc55914e90e13cba05a84efc4b7f1e7c44897f9437ed4fbac55ae8d602d4d3240',
    gasLimit: '0x4000000000000',
    gasUsed: '0x93349',
    l1BlockNumber: '0x15b88c4',
    logsBloom: NO_BLOOM,
    miner: '0xa4b000000000000000000073657175656e636572',
    mixHash: '0x0000000000023fb900000000015b88c400000000000000280000000000000000',
    nonce: '0x00000000001ed08c',
    receiptsRoot: '0xbf6cfdf29ce73f87c2c0b828813e5700a5fa621777bbbae650c8b34cdaa8b15b',
    sendCount: '0x23fb9',
    sendRoot: '0xc55914e90e13cba05a84efc4b7f1e7c44897f9437ed4fbac55ae8d602d4d3240',
    sha3Uncles: NO_UNCLES,
    size: '0x4c0',
    stateRoot: '0xe8d2484861442a3ef9809818951b22776d6ca444d7e31f99c0c104532be4f690',
    timestamp: '0x685aeaf0',
    transactionsRoot: '0xec2be67d104f0e1947f0ff32c22c2c0b5fe83d21aa87da153723807d23e32644',
    transactionCount: 4,
    transactions: [
      {
        ...placed(arbitrumHead, 0),
        from: '0x00000000000000000000000000000000000a4b05',
        gas: '0x0',
        gasPrice: '0x0',
        hash: '0x03dd259cba9ef03a0043700ff6aa27de5c96337ad410b3710b6482ca8a971fd0',
        input:
          '0x6bf6a42d000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000015b88c40000000000000000000000000000000000000000000000000000000014e8a59a0000000000000000000000000000000000000000000000000000000000000000',
        nonce: '0x0',
        to: '0x00000000000000000000000000000000000a4b05',
        value: '0x0',
        type: '0x6a',
        chainId: '0xa4b1',
        ...unsigned,
      },
    ],
    uncles: [],
  },
  receipts: [
    {
      ...placed(arbitrumHead, 0),
      transactionHash: '0x03dd259cba9ef03a0043700ff6aa27de5c96337ad410b3710b6482ca8a971fd0',
      type: '0x6a',
      from: '0x00000000000000000000000000000000000a4b05',
      to: '0x00000000000000000000000000000000000a4b05',
      contractAddress: null,
      status: '0x1',
      gasUsed: '0x0',
      cumulativeGasUsed: '0x0',
      effectiveGasPrice: '0x989680',
      gasUsedForL1: '0x0',
      l1BlockNumber: '0x15b88c4',
      timeboosted: false,
      logs: [],
      logsBloom: NO_BLOOM,
    },
  ],
}

/**
 * A transaction of block 9,627,753 of zkSync Era: its receipt is published in the docs of blockpi (eth_getTransactionReceipt). Header and
 * transaction are by the specification.
 */
const zkHead = {
  hash: '0x9639114abbde6058f5fa4fa8c6db0a67be88bde27e37c825f47b462f716ef5cc',
  number: '0x92e869',
}
const zkHash = '0x32e69225d68e2d3969776b33011c984b0ab030a71907008ff88d4757922883e2'
const [zkUser, zkBank] = [
  '0x000000000000000000000000cb6f7e93f0fcbadee2fe746001eab7107069c1fe',
  '0x0000000000000000000000000000000000000000000000000000000000008001',
]
const zkLog = (index: number, from: string, to: string, data: string) => ({
  ...placed(zkHead, 0),
  address: '0x000000000000000000000000000000000000800a',
  data,
  l1BatchNumber: '0x1d4f2',
  logIndex: `0x${index}`,
  logType: null,
  removed: false,
  topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', from, to],
  transactionHash: zkHash,
  transactionLogIndex: `0x${index}`,
})
export const zkBlock: RawBlock = {
  chainId: 324,
  block: {
    ...zkHead,
    parentHash: '0x6d1b3d3b3a2c9b8f5c6f0b6e0e9f3d9b6fbb9d6c1d7e3d0a5b2c4f6e8a0b1c3d',
    baseFeePerGas: '0xee6b280',
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: '0x4000000000000',
    gasUsed: '0x115532',
    l1BatchNumber: '0x1d4f2',
    l1BatchTimestamp: '0x64c5a2c5',
    logsBloom: NO_BLOOM,
    miner: '0x0000000000000000000000000000000000000000',
    mixHash: `0x${'0'.repeat(64)}`,
    nonce: '0x0000000000000000',
    sealFields: [],
    sha3Uncles: NO_UNCLES,
    size: '0x0',
    timestamp: '0x64c5a2c6',
    totalDifficulty: '0x0',
    transactions: [
      {
        ...placed(zkHead, 0),
        chainId: '0x144',
        from: '0xcb6f7e93f0fcbadee2fe746001eab7107069c1fe',
        gas: '0x16e360',
        gasPrice: '0xee6b280',
        hash: zkHash,
        input: '0x',
        l1BatchNumber: '0x1d4f2',
        l1BatchTxIndex: '0x5f',
        nonce: '0x7',
        to: '0x01767c7f08e2ac33df97cb74e80bbd184058c8cc',
        type: '0x0',
        value: '0x0',
      },
    ],
    uncles: [],
  },
  receipts: [
    {
      ...placed(zkHead, 0),
      contractAddress: null,
      cumulativeGasUsed: '0x0',
      effectiveGasPrice: '0xee6b280',
      from: '0xcb6f7e93f0fcbadee2fe746001eab7107069c1fe',
      gasUsed: '0x115532',
      l1BatchNumber: '0x1d4f2',
      l1BatchTxIndex: '0x5f',
      l2ToL1Logs: [],
      logs: [
        zkLog(0, zkUser, zkBank, '0x00000000000000000000000000000000000000000000000000d529ae9e860000'),
        zkLog(1, zkBank, zkUser, '0x00000000000000000000000000000000000000000000000000ba8478cab54000'),
        zkLog(2, zkBank, zkUser, '0x0000000000000000000000000000000000000000000000000019a2ee76fd6300'),
      ],
      logsBloom: NO_BLOOM,
      root: '0x9639114abbde6058f5fa4fa8c6db0a67be88bde27e37c825f47b462f716ef5cc',
      status: '0x1',
      to: '0x01767c7f08e2ac33df97cb74e80bbd184058c8cc',
      transactionHash: zkHash,
      type: '0x0',
    },
  ],
}

/** A block of no chain, by the specification of members that nobody knows yet, hostile names among them. */
export const unknownBlock = (): RawBlock => {
  const raw = structuredClone(arbitrumBlock)
  const [tx, receipt] = [raw.block.transactions[0]!, raw.receipts[0]!]
  Object.assign(raw.block, { sendCount: 'many', proofs: [{ by: 'A', of: { depth: 3 } }, { by: 'B' }], empty: null })
  Object.assign(tx, { ticketId: '0x1234', yieldMode: 'claimable', mint: '0x5' } satisfies Partial<RpcTransaction>)
  Object.assign(receipt, { yieldMode: 'void', mint: '0x6', type: '0x69', shares: { node: '7', user: 'Ü' } })
  Object.defineProperty(tx, '__proto__', { value: { polluted: 'yes' }, enumerable: true })
  Object.defineProperty(tx, 'constructor', { value: 'made', enumerable: true })
  return raw
}

/** Whether a field, by its path, is one that few chains have: most blocks of tests lack it. */
export const isOfFewChains = (kind: Kind, path: string): boolean => {
  const field = MAPPING[kind].fields[path.split('.')[0]!]
  return field !== undefined && !isList(field) && field.rare !== undefined
}
