import type { RawBlock, RpcLog } from '../../src/chain/wire.ts'
import { NO_BLOOM, NO_UNCLES, placed } from './chains.ts'

/** More blocks of chains that are not Ethereum, as in chains.ts. */

const NOTHING = `0x${'0'.repeat(64)}`
const NOBODY = `0x${'0'.repeat(40)}`
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const topicOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const words = (...values: string[]) => `0x${values.map(value => value.padStart(64, '0')).join('')}`

interface Head {
  hash: string
  number: string
}

const header = (head: Head) => ({
  ...head,
  parentHash: `0x${'01'.repeat(32)}`,
  difficulty: '0x0',
  extraData: '0x',
  gasLimit: '0x1c9c380',
  logsBloom: NO_BLOOM,
  miner: NOBODY,
  mixHash: NOTHING,
  nonce: '0x0000000000000000',
  sha3Uncles: NO_UNCLES,
  size: '0x400',
  timestamp: '0x64c5a2c6',
  uncles: [],
})

const logsOf = (
  head: Head,
  transactionHash: string,
  logs: readonly [address: string, topics: string[], data: string][],
  more: object,
): RpcLog[] =>
  logs.map(([address, topics, data], index) => ({
    ...placed(head, 0),
    ...{ address, topics, data, transactionHash, logIndex: `0x${index.toString(16)}`, removed: false },
    ...more,
  }))

/** Block 35,533 of zkSync Era, whole, with a transaction of type 0x71, and its receipt: in the tests of wevm/viem (chains of zkSync). */
const eraHead = { hash: '0xfd73aaef0e91fcd6c171056b235a2b0f17650dcbe17038d17f76bbf3980c4da2', number: '0x8acd' }
const eraHash = '0xe56c11904d690e1bd41a7e901df609c2dc011d1033415379193ebc4197f32fc6'
const [eraUser, eraPool, eraRouter] = [
  '0xef9e8e39782b1b544a6eb6db6aa85207bacb4c20',
  '0xe0cdfcec9dcde1ec6b29d38673d3336a3a219c1e',
  '0x8b791913eb07c32779a16750e3868aa8495f5964',
]
const [eraEther, eraBank] = ['0x000000000000000000000000000000000000800a', '0x0000000000000000000000000000000000008001']
const [eraUsdc, eraCheems] = [
  '0x3355df6d4c9c3035724fd0e3914de96a5a83aaf4',
  '0x3f81edcbd9bc84271fb8fdf270257a18f4d47e9b',
]
const BURN = '0xdec2bacdd2f05b59de34da9b523dff8be42e5e38e818c82fdb0bae774387a724'
const [burnt, zero] = ['2b94cc7d236b39b0bff', '0']
const eraBatch = { l1BatchNumber: '0x239', l1BatchTxIndex: '0x154' }
export const eraBlock: RawBlock = {
  chainId: 324,
  block: {
    ...eraHead,
    parentHash: '0x4adced86c99c6a0db3288bcb1c99ab984f2c51ecf5b9efa243ca029b86ce1476',
    baseFeePerGas: '0xee6b280',
    blobGasUsed: '0x0',
    difficulty: '0x0',
    excessBlobGas: '0x0',
    extraData: '0x',
    gasLimit: '0xffffffff',
    gasUsed: '0x318fd7',
    l1BatchNumber: '0x239',
    l1BatchTimestamp: '0x641e16e8',
    logsBloom: NO_BLOOM,
    miner: NOBODY,
    mixHash: NOTHING,
    nonce: '0x0000000000000000',
    receiptsRoot: NOTHING,
    sealFields: [],
    sha3Uncles: NO_UNCLES,
    size: '0x0',
    stateRoot: NOTHING,
    timestamp: '0x641e1763',
    totalDifficulty: '0x0',
    transactionsRoot: NOTHING,
    transactions: [
      {
        ...placed(eraHead, 0),
        ...eraBatch,
        chainId: '0x144',
        from: eraUser,
        gas: '0x86084b',
        gasPrice: '0xee6b280',
        hash: eraHash,
        input:
          '0x0fc87d250000000000000000000000003355df6d4c9c3035724fd0e3914de96a5a83aaf40000000000000000000000003f81edcbd9bc84271fb8fdf270257a18f4d47e9b0000000000000000000000000000000000000000000002b94cc7d236b39b0bff00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ef9e8e39782b1b544a6eb6db6aa85207bacb4c2000000000000000000000000000000000000000000000000000000000641e1c0b0000000000000000000000000000000000000000000000000000000000000000',
        maxFeePerGas: '0xee6b280',
        maxPriorityFeePerGas: '0xee6b280',
        nonce: '0xf',
        r: '0xfdea6b4ea965cb184257159dfdcbbe6045bf264c0de4d1b76c06821e4c33284',
        s: '0x39d0abb813b58d4ebd9c085cc31df866df218803e6a7808f21c3c651e4609981',
        to: eraRouter,
        type: '0x71',
        v: '0x0',
        value: '0x0',
        yParity: '0x0',
      },
    ],
    uncles: [],
  },
  receipts: [
    {
      ...placed(eraHead, 0),
      ...eraBatch,
      contractAddress: null,
      cumulativeGasUsed: '0x0',
      effectiveGasPrice: '0xee6b280',
      from: eraUser,
      gasUsed: '0x318fd7',
      l2ToL1Logs: [],
      logs: logsOf(
        eraHead,
        eraHash,
        [
          [eraEther, [TRANSFER, topicOf(eraUser), topicOf(eraBank)], words('7cd3d022a4b80')],
          [eraPool, [BURN, topicOf(eraUser)], words(burnt, zero)],
          [eraPool, [BURN, topicOf(eraPool)], words(zero, burnt)],
          [eraPool, [TRANSFER, topicOf(eraUser), topicOf(eraPool)], words(burnt)],
          [eraPool, [BURN, topicOf(eraPool)], words(burnt, zero)],
          [eraPool, [TRANSFER, topicOf(eraPool), NOTHING], words(burnt)],
          [eraUsdc, [TRANSFER, topicOf(eraPool), topicOf(eraUser)], words('9f62322')],
          [eraCheems, [TRANSFER, topicOf(eraPool), topicOf(eraUser)], words('beaac4bd1b7f557aaca0ff08cfb011')],
          [
            eraPool,
            ['0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a'],
            words('1', '1116facf7304fef'),
          ],
          [
            eraPool,
            [
              '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496',
              topicOf(eraRouter),
              topicOf(eraUser),
            ],
            words('9f62322', 'beaac4bd1b7f557aaca0ff08cfb011'),
          ],
          [eraEther, [TRANSFER, topicOf(eraBank), topicOf(eraUser)], words('4eab57634e200')],
        ],
        { l1BatchNumber: '0x239', logType: null },
      ),
      logsBloom: NO_BLOOM,
      root: eraHead.hash,
      status: '0x1',
      to: eraRouter,
      transactionHash: eraHash,
      type: '0x71',
    },
  ],
}

/**
 * Block 1 of zkSync Era, cut down to its first transaction, which is of type 0xff: header and transaction are in the tests of wevm/viem. The
 * receipt is by the specification, as one of its type is published there.
 */
const firstHead = { hash: '0x51f81bcdfc324a0dff2b5bec9d92e21cbebc4d5e29d3a3d30de3e03fbeab8d7f', number: '0x1' }
const firstHash = '0xe9a1a8601bc9199c80c97169fdc9e1fc7c307185a0c9fa2cfab04098a7840645'
const [bridge, deployer] = ['0x29df43f75149d0552475a6f9b2ac96e28796ed0b', '0x0000000000000000000000000000000000008006']
const firstBatch = { l1BatchNumber: '0x1', l1BatchTxIndex: '0x0' }
export const priorityBlock: RawBlock = {
  chainId: 324,
  block: {
    ...header(firstHead),
    parentHash: '0xe8e77626586f73b955364c7b4bbf0bb7f7685ebd40e852b164633a4acbd3244c',
    baseFeePerGas: '0x1dcd6500',
    gasLimit: '0xffffffff',
    gasUsed: '0x19bfcc00',
    l1BatchNumber: '0x1',
    l1BatchTimestamp: '0x63eb991e',
    logsBloom:
      '0x000000200004000800000100000000004001800000004000008008000400000008000000000000011400000000100000200000000010000000000000000000000001000000200400000021200000420200010000800000000000000000000000000000000200000000040000010808000000008000004001000000000000004000000810000400000000000000000000000001000000800000001000208000000080a0000001000000000000800500030440000010040000002000010000000080000020008100000000200000040000085000000552000000010000000020004802000000100000000400000000000010000080000000000200000010004000',
    sealFields: [],
    size: '0x0',
    timestamp: '0x63eb991e',
    totalDifficulty: '0x0',
    transactionCount: 6,
    transactions: [
      {
        ...placed(firstHead, 0),
        ...firstBatch,
        chainId: '0x144',
        from: bridge,
        gas: '0x44aa200',
        gasPrice: '0x0',
        hash: firstHash,
        input:
          '0x3cda33510000000000000000000000000000000000000000000000000000000000000000010000553109a66f1432eb2286c54694784d1b6993bc24a168be0a49b4d0fd4500000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000',
        maxFeePerGas: '0x0',
        maxPriorityFeePerGas: '0x0',
        nonce: '0x0',
        to: deployer,
        type: '0xff',
        value: '0x0',
      },
    ],
  },
  receipts: [
    {
      ...placed(firstHead, 0),
      ...firstBatch,
      contractAddress: null,
      cumulativeGasUsed: '0x0',
      effectiveGasPrice: '0x0',
      from: bridge,
      gasUsed: '0x44aa200',
      l2ToL1Logs: [
        {
          ...placed(firstHead, 0),
          ...{ isService: true, key: firstHash, l1BatchNumber: '0x1', logIndex: '0x0', shardId: '0x0' },
          ...{ sender: eraBank, transactionHash: firstHash, transactionLogIndex: '0x0', value: words('1') },
        },
      ],
      logs: [],
      logsBloom: NO_BLOOM,
      root: firstHead.hash,
      status: '0x1',
      to: deployer,
      transactionHash: firstHash,
      type: '0xff',
    },
  ],
}

/**
 * A transaction of Gnosis' block 17,270,773 and its receipt, from a node of OpenEthereum: in the docs of gateway.fm (eth_getTransactionByHash
 * and eth_getTransactionReceipt). The header is by the specification.
 */
const gnosisHead = { hash: '0x3b7e9781c36c7dd97c688aa879e79cf10c71076d40d426d38c87a6fa361db623', number: '0x10787f5' }
const gnosisHash = '0x208b6b084c40d39f548992375d34f212e80eae42a21668f4a1d512fecffec778'
const [gnosisUser, gnosisBot] = [
  '0x70b4a5bffc002b68623cbc17ab777e625307011d',
  '0x96f9a82cefdbf3661bf23a2e0997821326b18346',
]
const [poolA, poolB, poolC] = [
  '0x1af298d8bfd6e36ccdfd4b3659077d7a3b573d45',
  '0x1a90e50a0d0782cf54dfd96259b89a65babcea36',
  '0x7feb0ddd7bdc11589f6919a51ac5536bcfd854bf',
]
const [tokenA, tokenB, wrapped] = [
  '0xb7d311e2eb55f2f68a9440da38e7989210b9a05e',
  '0x2f9cebf5de3bc25e0643d0e66134e5bf5c48e191',
  '0xe91d153e0b41518a2ce8dd3d7944fa863463a97d',
]
const [bridged, sync, swap] = [
  '0x11249f0fc79fc134a15a10d1da8291b79515bf987e036ced05b9ec119614070b',
  '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
]
const [amountA, amountB, amountC, amountD] = [
  '1413ad98d64bd959',
  '192f8bac0b6799b88e',
  '83ab7a4b7b839a0a',
  '826e73a4946b22ad',
]
const gnosisInput =
  'dab2ed45000000000000000000000000000000000000000000000000826e73a4946b22b100000000000000000000000000000000000000000000000000354a6ba7a1800000000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000120000000000000000000000000000000000000000000000000000000006103c0e400000000000000000000000000000000000000000000000000000000000000030000000000000000000000001af298d8bfd6e36ccdfd4b3659077d7a3b573d450000000000000000000000001a90e50a0d0782cf54dfd96259b89a65babcea360000000000000000000000007feb0ddd7bdc11589f6919a51ac5536bcfd854bf0000000000000000000000000000000000000000000000000000000000000004000000000000000000000000e91d153e0b41518a2ce8dd3d7944fa863463a97d000000000000000000000000b7d311e2eb55f2f68a9440da38e7989210b9a05e0000000000000000000000002f9cebf5de3bc25e0643d0e66134e5bf5c48e191000000000000000000000000e91d153e0b41518a2ce8dd3d7944fa863463a97d'
const [gnosisR, gnosisS] = [
  '98bc28d7a8460132d5ce87df739dfb98fea92bce6a9fbf914af21c5e2475e345',
  '75101c9192dc09b799aed560d18dd76f72fae37bc79b820c15d6bee58a1fa92',
]
const bare = (address: string) => address.slice(2)
export const gnosisBlock: RawBlock = {
  chainId: 100,
  block: {
    ...header(gnosisHead),
    gasUsed: '0xf4240',
    timestamp: '0x6103bd60',
    transactionCount: 5,
    transactions: [
      {
        ...placed(gnosisHead, 0),
        chainId: '0x64',
        condition: null,
        creates: null,
        from: gnosisUser,
        gas: '0xc3500',
        gasPrice: '0x244d614e03b',
        hash: gnosisHash,
        input: `0x${gnosisInput}`,
        nonce: '0x2aa',
        publicKey:
          '0xefbbd83a7f8821edd407d3907ebaa93c6bb36a901296b82f5c49e275048988c1c8b654399259c36a3eee61e85a0f85679659861b96138ec31301fcd6199470ca',
        r: `0x${gnosisR}`,
        raw: `0xf9022f8202aa860244d614e03b830c350094${bare(gnosisBot)}80b901c4${gnosisInput}81eca0${gnosisR}a00${gnosisS}`,
        s: `0x${gnosisS}`,
        standardV: '0x1',
        to: gnosisBot,
        type: '0x0',
        v: '0xec',
        value: '0x0',
      },
    ],
  },
  receipts: [
    {
      ...placed(gnosisHead, 0),
      contractAddress: null,
      cumulativeGasUsed: '0x3cf47',
      effectiveGasPrice: '0x244d614e03b',
      from: gnosisUser,
      gasUsed: '0x3cf47',
      logs: logsOf(
        gnosisHead,
        gnosisHash,
        [
          [tokenA, [TRANSFER, topicOf(poolA), topicOf(gnosisBot)], words(amountA)],
          [tokenA, [TRANSFER, topicOf(gnosisBot), topicOf(poolB)], words(amountA)],
          [tokenA, [bridged], words(bare(gnosisBot), bare(poolB), amountA)],
          [tokenB, [TRANSFER, topicOf(poolB), topicOf(poolC)], words(amountB)],
          [tokenB, [bridged], words(bare(poolB), bare(poolC), amountB)],
          [poolB, [sync], words('da50eef6630dbe65451', 'aec395f35f21c5670')],
          [poolB, [swap, topicOf(gnosisBot), topicOf(poolC)], words(zero, amountA, amountB, zero)],
          [wrapped, [TRANSFER, topicOf(poolC), topicOf(gnosisBot)], words(amountC)],
          [poolC, [sync], words('2c7e701c6e0632537dee', 'e8cbd04b6fb74ea509')],
          [poolC, [swap, topicOf(gnosisBot), topicOf(gnosisBot)], words(amountB, zero, zero, amountC)],
          [wrapped, [TRANSFER, topicOf(gnosisBot), topicOf(poolA)], words(amountD)],
          [poolA, [sync], words('53e4a129caa627efc6', '21f6aba1b5a9bd0ad0f5')],
          [poolA, [swap, topicOf(gnosisBot), topicOf(gnosisBot)], words(zero, amountD, amountA, zero)],
        ],
        { type: 'mined' },
      ),
      logsBloom:
        '0x01200000000800000000000088000000000010000000000900000000000000000000000200100000002000000000000000000000000000000000010000000000000000000000000000000008000000202100000000000000000000002020000000000000000000008000000000000000000000800000000000000010000000000000000000030000000000000000002000000000000000080000004010000000000000000000000100010000010000100000000000000010000004000000000000000002000020000000000000400000000000000000001000000000020000000000000000001000000080004000000000000000000000000000000008000000',
      status: '0x1',
      to: gnosisBot,
      transactionHash: gnosisHash,
      type: '0x0',
    },
  ],
}

/** A transaction of Linea's block 150,839 and its receipt: in the docs of blockpi (Linea). The header is by the specification. */
const lineaHead = { hash: '0x4d76e4447702a7dfbccb4a9e3be640b00078290ae1a84cce58f8589b1f7ae989', number: '0x24d37' }
const lineaHash = '0x17db0f3d77434c21e76a405e0d3a329ba0a9eadf6a767c6dd40f8149eb30651e'
const lineaEnds = {
  from: '0x45a318273749d6eb00f5f6ca3bc7cd3de26d642a',
  to: '0x124fb955862709e30740028cb86c477221842b14',
}
export const lineaBlock: RawBlock = {
  chainId: 59_144,
  block: {
    ...header(lineaHead),
    baseFeePerGas: '0x7',
    gasUsed: '0x5208',
    transactions: [
      {
        ...placed(lineaHead, 0),
        ...lineaEnds,
        accessList: [],
        chainId: '0xe708',
        gas: '0x6270',
        gasPrice: '0x237a9ccfa',
        hash: lineaHash,
        input: '0x',
        maxFeePerGas: '0x2a9322923',
        maxPriorityFeePerGas: '0x237a9ccf3',
        nonce: '0x74e7',
        r: '0x5258ce88c9dd9ca3346c0577bc59838cd85de61e112b12c46aaf525a0af1b1da',
        s: '0x6c8c928040c9fba1877f058125dd9a79e763c5b1be1e3240683997a75b5da5f2',
        type: '0x2',
        v: '0x1',
        value: '0x470de4df820007',
      },
    ],
  },
  receipts: [
    {
      ...placed(lineaHead, 0),
      ...lineaEnds,
      contractAddress: null,
      cumulativeGasUsed: '0x5208',
      effectiveGasPrice: '0x237a9ccfa',
      gasUsed: '0x5208',
      logs: [],
      logsBloom: NO_BLOOM,
      status: '0x1',
      transactionHash: lineaHash,
      type: '0x2',
    },
  ],
}

/**
 * The transaction of block 941,652 of a network for tests of Scroll and its receipt: in the docs of blockpi (Scroll). The header is by the
 * specification.
 */
const scrollHead = { hash: '0x3d3443a85596bfa9baa32ec9ee826ccc726a34574cffe43474f1fe6a368b5b3a', number: '0xe5e54' }
const scrollHash = '0x7f3471705371d394ffe3627c6a7f19f6f399a6b2fa6908143dac04a42e5c04ab'
const scrollEnds = {
  from: '0x097258f96d538164c1434f4c0ff692a4cee3fe6f',
  to: '0x80732890c93c6d9c6c23e06f888ed0cb88a06018',
}
const scrollSpender = '0x48235a4b7d02f5874dc82f7419cbeaeb0043ef2f'
const scrollBloom =
  '0x00000000000000000000000000000000000000000000000000000000000000000000000100000000000000000040000000002000000000000000000000200000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080020000000000000000000400000000000000000000000000000000000000000000000000000000000000000000010000000400000000000000000000000000000410000000000000000000000000000000000000000000000000000000000000'
const ALL = 'f'.repeat(64)
export const scrollBlock: RawBlock = {
  chainId: 534_354,
  block: {
    ...header(scrollHead),
    baseFeePerGas: '0x7',
    gasUsed: '0xc06a',
    logsBloom: scrollBloom,
    transactions: [
      {
        ...placed(scrollHead, 0),
        ...scrollEnds,
        accessList: [],
        chainId: '0x82752',
        gas: '0xc1cd',
        gasPrice: '0x77359407',
        hash: scrollHash,
        input: `0x095ea7b3${words(bare(scrollSpender), ALL).slice(2)}`,
        maxFeePerGas: '0x77359408',
        maxPriorityFeePerGas: '0x77359400',
        nonce: '0x1',
        r: '0x89df90d8afd9f275759d588b1cbd05326d8919887ee30c664ea8e3e0dc5d3cb4',
        s: '0x63d3021ed4f030060cf4ed538ee72fd4424f2ac44a5368509786b3734da37f5d',
        type: '0x2',
        v: '0x1',
        value: '0x0',
      },
    ],
  },
  receipts: [
    {
      ...placed(scrollHead, 0),
      ...scrollEnds,
      contractAddress: null,
      cumulativeGasUsed: '0xc06a',
      effectiveGasPrice: '0x77359407',
      gasUsed: '0xc06a',
      logs: logsOf(
        scrollHead,
        scrollHash,
        [
          [
            scrollEnds.to,
            [
              '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
              topicOf(scrollEnds.from),
              topicOf(scrollSpender),
            ],
            words(ALL),
          ],
        ],
        {},
      ),
      logsBloom: scrollBloom,
      status: '0x1',
      transactionHash: scrollHash,
      type: '0x2',
    },
  ],
}
