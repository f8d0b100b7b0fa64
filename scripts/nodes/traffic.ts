import { encodeAbiParameters, encodeFunctionData, keccak256, parseAbi } from 'viem'
import { sendBy } from '../../test/support/anvil.ts'
import { codeOf, initCodeOf } from '../../test/support/deploy.ts'
import type { RealNode } from './nodes.ts'

/** Of all contracts that are deployed. */
export const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Made(address indexed it)',
  'event Named(string name, uint256[] list, bytes32 indexed salt)',
  'event Changed(uint256 value)',
  'event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function make() returns (address)',
  'function clone(address a, string name, uint256[] list)',
  'function set(uint256 v)',
])

const LARGE = 10n ** 30n
const GAS = '0x2dc6c0'

/** Deploys contracts, and returns what sends some transactions of all kinds. */
export const createTraffic = async (node: RealNode) => {
  const [from] = await node.call<[string]>('eth_accounts')
  const balance = keccak256(
    encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [from as `0x${string}`, 0n]),
  )
  const deploy = async (code: string, storage = {}) => {
    const receipt = await sendBy(node.call, { from, data: initCodeOf(code, storage), gas: '0x5b8d80' })
    if (receipt.status !== '0x1') throw new Error(`${node.name} deploys no contract`)
    return receipt.contractAddress as `0x${string}`
  }
  const token = await deploy(codeOf('Plain'), { [balance]: LARGE })
  const factory = await deploy(codeOf('Factory'))
  const store = await deploy(codeOf('SimpleStore'))
  const logs = await deploy(`0x${LOGS}${PRECOMPILES}`)
  const transact = (transaction: Record<string, unknown>) =>
    node.call<string>('eth_sendTransaction', { from, gas: GAS, ...transaction })
  const price = await node.call<string>('eth_gasPrice')
  const other = `0x${'77'.repeat(20)}` as const

  let turn = 0
  return async () => {
    const i = BigInt(++turn)
    const calls: [to: string, data: string, more?: object][] = [
      [token, encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [other, i ** 9n] })],
      [token, encodeFunctionData({ abi: ABI, functionName: 'approve', args: [other, 2n ** 256n - i] })],
      // Fails.
      [token, encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [other, LARGE * 2n] })],
      [
        store,
        encodeFunctionData({ abi: ABI, functionName: 'set', args: [i % 3n === 0n ? 7n : i] }),
        { gasPrice: price },
      ],
      [factory, encodeFunctionData({ abi: ABI, functionName: 'clone', args: [token, `name ${i} é`, [i, i * i]] })],
      [other, '0x', { value: `0x${i.toString(16)}`, accessList: [{ address: token, storageKeys: [balance] }] }],
      [logs, '0x', { value: '0x5' }],
    ]
    if (turn % 5 === 0) calls.push([factory, encodeFunctionData({ abi: ABI, functionName: 'make' })])
    for (const [to, data, more] of calls) await transact({ to, data, ...more })
  }
}

const address = (n: number) => `73${n.toString(16).padStart(40, '0')}`
const NO_DATA = '6000600060006000'
const PRECOMPILES = [
  `${NO_DATA}${address(2)}61fffffa50`,
  `${NO_DATA}6001${address(4)}61fffff150`,
  `${NO_DATA}6000${address(1)}61fffff150`,
].join('')
/** A log without topics, and one with three that nobody declares. */
const LOGS = '60aa60005260206000a060036002600160206000a3'
