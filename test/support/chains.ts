import type { RawBlock, RpcTransaction } from '../../src/chain/wire.ts'
import { isListField, type Kind, MAPPING } from '../../src/mapping/index.ts'

/**
 * Blocks of chains that are not Ethereum, as their nodes tell them. What was found in public repositories is named at each block; what a
 * published answer left out was filled in by the chain's specification.
 */

export const NO_BLOOM = `0x${'0'.repeat(512)}`
export const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
const unsigned = { v: '0x0', r: '0x0', s: '0x0' }

export const placed = (block: { hash: string; number: string }, index: number) => ({
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

/**
 * Block 5,760,288 of Avalanche's C-Chain, cut down to its first and last transactions: header and transactions are in the tests of
 * slasher_proxy (sample_block). The receipts are by the specification, without logs.
 */
const avalancheHead = {
  hash: '0xec8148b1712a372e6ab418358ed0cf2051a1f04f80e6a4f77f352d2ab2f9338a',
  number: '0x57e520',
}
const avalancheHashes = [
  '0x1a1b60c7f1f5251d3ced80fe2bae79090824ce2a0f4769b309cb4fdc7c510beb',
  '0xf1b45b9dcf5970624a042d2f82124ce2689f90b4dcf990e035e880383a312c51',
] as const
const avalancheReceipt = (transactionHash: string, index: number, from: string, to: string, type: string) => ({
  ...placed(avalancheHead, index),
  ...{ transactionHash, from, to, type, contractAddress: null, status: '0x1' },
  ...{ gasUsed: '0x1e86e', cumulativeGasUsed: '0x7a1b9', effectiveGasPrice: '0x5d21dba00', logs: [] },
})
export const avalancheBlock: RawBlock = {
  chainId: 43_114,
  block: {
    ...avalancheHead,
    baseFeePerGas: '0x5d21dba00',
    blockExtraData: '0x',
    blockGasCost: '0x0',
    difficulty: '0x1',
    extDataGasUsed: '0x0',
    extDataHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    extraData:
      '0x000000000000000000000000000a206f0000000000000000000000000009971e000000000009a8fb00000000000e50a50000000000000000000000000000000000000000000000000000000000000000',
    gasLimit: '0x7a1200',
    gasUsed: '0x7a1b9',
    logsBloom:
      '0x00200400001020040002000080000000400000000000000020400100000000000000000000000000004000000080010000000000200000002000000000200000000080000200000000004008410000220040000000400000000000000000000000000000020004000000000100024800010000000000840000000030800004000000000000010000000002008000000000000080100010080004004000000810020000002000000002000000000000008080000000000000000001000000010040100802010020001008000000000000000000000000001420000002000020000010141000000000000000001008000800002008000000200000000000000000',
    miner: '0x0100000000000000000000000000000000000000',
    mixHash: `0x${'0'.repeat(64)}`,
    nonce: '0x0000000000000000',
    parentHash: '0x7dc8ef36dbac74134798b78406ccce73f926b35a7d11ca22029672bd9d84cd3d',
    receiptsRoot: '0x8b2a08f91826aa3201bbf866a8588080dde8aaeb448caf9c6035b5c0b8f593b1',
    sha3Uncles: NO_UNCLES,
    size: '0x8f2',
    stateRoot: '0xfb149ac2f5fc1d9159964d9de2e1ae30b3608273fff78fcc8fb15c1b76a47625',
    timestamp: '0x616c6f77',
    totalDifficulty: '0x57e520',
    transactionsRoot: '0x002cb0567dccea3f36059008cbf1dd5d25a52bbf4abde4eb4b58db9a26cd2ca4',
    transactionCount: 4,
    transactions: [
      {
        ...placed(avalancheHead, 0),
        from: '0xeaafb37750164977e8e0269063d88ec521329fc8',
        gas: '0x1e8480',
        gasPrice: '0x5d21dba00',
        hash: avalancheHashes[0],
        input:
          '0x5c11d79500000000000000000000000000000000000000000000002259a2be918f26000000000000000000000000000000000000000000000000000061903b8d49d46a2e00000000000000000000000000000000000000000000000000000000000000a0000000000000000000000000eaafb37750164977e8e0269063d88ec521329fc800000000000000000000000000000000000000000000000000000000616c7d840000000000000000000000000000000000000000000000000000000000000002000000000000000000000000b27c8941a7df8958a1778c0259f76d1f8b711c35000000000000000000000000b31f66aa3c1e785363f0875a1b74e27b85fd66c7',
        nonce: '0x6d6',
        to: '0x60ae616a2155ee3d9a68541ba4544862310933d4',
        value: '0x0',
        type: '0x0',
        chainId: '0xa86a',
        v: '0x150f8',
        r: '0x7606ef21cd17ea0b744046adcc13478c6530494dfb989bf9cd5e964359f1bbe3',
        s: '0xd27479d23b42c126d5e16422dd03f3cbc30ae2897eaa6f788a233e4e210d5b5',
      },
      {
        ...placed(avalancheHead, 3),
        from: '0x1c4ebbee1470993473825fd548c48aab22b7c345',
        gas: '0x39c7b',
        gasPrice: '0x5d21dba00',
        maxFeePerGas: '0x5d21dba00',
        maxPriorityFeePerGas: '0x5d21dba00',
        hash: avalancheHashes[1],
        input:
          '0x441a3e700000000000000000000000000000000000000000000000000000000000000018000000000000000000000000000000000000000000000009893c2f9e427793ee',
        nonce: '0x14',
        to: '0xd6a4f121ca35509af06a0be99093d08462f53052',
        value: '0x0',
        type: '0x2',
        accessList: [],
        chainId: '0xa86a',
        v: '0x1',
        r: '0x3455e41b2d99607f0911b70603487ed223bc38c1324d781df39710f118a0791e',
        s: '0x77eb7573fe24eaa9548b6e89730da4ba338c319a055b6bbb050e5ecfab771a93',
        yParity: '0x1',
      },
    ],
    uncles: [],
  },
  receipts: [
    avalancheReceipt(
      avalancheHashes[0],
      0,
      '0xeaafb37750164977e8e0269063d88ec521329fc8',
      '0x60ae616a2155ee3d9a68541ba4544862310933d4',
      '0x0',
    ),
    avalancheReceipt(
      avalancheHashes[1],
      3,
      '0x1c4ebbee1470993473825fd548c48aab22b7c345',
      '0xd6a4f121ca35509af06a0be99093d08462f53052',
      '0x2',
    ),
  ],
}

/**
 * Block 11,832,497 of BNB chain's network for tests, cut down to its last transaction, which is the chain's own: header, transaction and receipt are in the
 * docs of icon-project/Nexus (bsc_blocks.md). The blooms are left out there. The log has no block hash, as the node told it.
 */
const bnbHead = {
  hash: '0xa14eae64f35dcc42f9ef4864aa3c1f5dd76293c13cbaa44d1bed78702780c5b0',
  number: '0xb48cb1',
}
const bnbHash = '0xac14bda81902634adfcbf8f5a34db10349b1025c9629ad89851ab45a001a2404'
export const bnbBlock: RawBlock = {
  chainId: 97,
  block: {
    ...bnbHead,
    difficulty: '0x2',
    extraData:
      '0xd883010007846765746888676f312e31352e38856c696e75780000001600553dbcb13830f43421b62f16f704dac1bf184701060cdf4aca9ab855c645b43fa1f8751d417b64ee792189c2dbe6993c958d63cd55f38d92f7ecc81496812114d45600',
    gasLimit: '0x1c9c380',
    gasUsed: '0xdf82f',
    logsBloom: NO_BLOOM,
    miner: '0x7a1a4ad9cc746a70ee58568466f7996dd0ace4e8',
    mixHash: `0x${'0'.repeat(64)}`,
    nonce: '0x0000000000000000',
    parentHash: '0xf8d0f8ea1b0e19dbac2b4daa6f874d74d5288d9f4313f0e807754408556288bf',
    receiptsRoot: '0xedd2bd17e17869eed49b25ba79cf042f5422787535a177d1e8f6f582b4c821b7',
    sha3Uncles: NO_UNCLES,
    size: '0x90b',
    stateRoot: '0x57d7b0b7837d8a2af8aba06d97a0770356c8110a6bb00dd7957fc69248ce9423',
    timestamp: '0x6128557b',
    totalDifficulty: '0x1678146',
    transactionCount: 8,
    transactions: [
      {
        ...placed(bnbHead, 7),
        from: '0x7a1a4ad9cc746a70ee58568466f7996dd0ace4e8',
        gas: '0x7fffffffffffffff',
        gasPrice: '0x0',
        hash: bnbHash,
        input: '0xf340fa010000000000000000000000007a1a4ad9cc746a70ee58568466f7996dd0ace4e8',
        nonce: '0x5075d',
        to: '0x0000000000000000000000000000000000001000',
        value: '0x20c4634b5e0400',
        type: '0x0',
        v: '0xe5',
        r: '0xdfd2f77aa958624d58965aeda5ed3b0c72ec5fb70274699f468e6ea1f11a4b6c',
        s: '0x55d80c126a34863ac5d93698993aa696bc150a2f6ed598a1820cbe0a0b250c63',
      },
    ],
    transactionsRoot: '0xa8c00e63a8cfa9d09e0e426a082c8ac428b5863aa0a7ab655b87ea3e62c6e852',
    uncles: [],
  },
  receipts: [
    {
      ...placed(bnbHead, 7),
      contractAddress: null,
      cumulativeGasUsed: '0xdf82f',
      from: '0x7a1a4ad9cc746a70ee58568466f7996dd0ace4e8',
      gasUsed: '0x42fe',
      logs: [
        {
          ...placed({ ...bnbHead, hash: `0x${'0'.repeat(64)}` }, 7),
          address: '0x0000000000000000000000000000000000001000',
          topics: [
            '0x93a090ecc682c002995fad3c85b30c5651d7fd29b0be5da9d784a3302aedc055',
            '0x0000000000000000000000007a1a4ad9cc746a70ee58568466f7996dd0ace4e8',
          ],
          data: '0x0000000000000000000000000000000000000000000000000020c4634b5e0400',
          transactionHash: bnbHash,
          logIndex: '0x8',
          removed: false,
        },
      ],
      status: '0x1',
      to: '0x0000000000000000000000000000000000001000',
      transactionHash: bnbHash,
      type: '0x0',
    },
  ],
}

/**
 * A transaction of Celo's block 32,460,725 whose fee is paid in a token: transaction and receipt, but for its logs, are in the tests of celo-org/celo-kona
 * (TxCip64). The header is by the specification.
 */
const celoHead = {
  hash: '0x6a0ab3a90053fb0157fade164fb34c45e805f0e236cdabc52ac6a0b7c408d32c',
  number: '0x1ef4fb5',
}
const celoHash = '0x2499b178a0e54fb856354bb53c9cb0fe2d1f70b2e6c876f6470e7a6e5090f3ac'
export const celoBlock: RawBlock = {
  chainId: 42_220,
  block: {
    ...celoHead,
    parentHash: '0x1d3b3d3b3a2c9b8f5c6f0b6e0e9f3d9b6fbb9d6c1d7e3d0a5b2c4f6e8a0b1c3d',
    baseFeePerGas: '0x5d21dba00',
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: '0x1c9c380',
    gasUsed: '0x13fa23',
    logsBloom: NO_BLOOM,
    miner: '0x4200000000000000000000000000000000000011',
    sha3Uncles: NO_UNCLES,
    timestamp: '0x67e7a2c6',
    transactionCount: 21,
    transactions: [
      {
        ...placed(celoHead, 0x14),
        hash: celoHash,
        nonce: '0x705',
        from: '0xefe945ee33ce4ab037ff4d1e1384d0efcd95f37b',
        to: '0x7a1e295c4babdf229776680c93ed0f73d069abc0',
        value: '0x0',
        gasPrice: '0x1ae0426f1',
        gas: '0x3644c',
        maxFeePerGas: '0x26442dbed',
        maxPriorityFeePerGas: '0x4d7ee',
        input: '0xcac35c7a290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563',
        r: '0xaa0cfaa3df893578b3504062b862428f0e4a94046370cf2a4fd6c392c0760dd8',
        s: '0x1337d022bbb8faed78a9707e6c38d51f575816e7f85aa540f3d37a9081c58a71',
        v: '0x0',
        yParity: '0x0',
        chainId: '0xa4ec',
        accessList: [],
        type: '0x7b',
        feeCurrency: '0x2f25deb3848c207fc8e0c34035b3ba7fc157602b',
      },
    ],
    uncles: [],
  },
  receipts: [
    {
      ...placed(celoHead, 0x14),
      status: '0x1',
      cumulativeGasUsed: '0x13fa23',
      logs: [],
      type: '0x7b',
      transactionHash: celoHash,
      gasUsed: '0x2b45b',
      effectiveGasPrice: '0x1ae0426f1',
      from: '0xefe945ee33ce4ab037ff4d1e1384d0efcd95f37b',
      to: '0x7a1e295c4babdf229776680c93ed0f73d069abc0',
      contractAddress: null,
      baseFee: '0x1adff4f03',
      l1BaseFeeScalar: '0x0',
      l1BlobBaseFee: '0x760c6b',
      l1BlobBaseFeeScalar: '0x0',
      l1Fee: '0x0',
      l1GasPrice: '0x22654238',
      l1GasUsed: '0x697',
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
  return field !== undefined && !isListField(field) && field.rare !== undefined
}
