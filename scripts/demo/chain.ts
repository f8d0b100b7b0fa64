import {
  type Address,
  createPublicClient,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  numberToHex,
  toHex,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import type { Anvil } from './anvil.ts'
import type { Contract } from './compile.ts'
import { createRandom, type Random } from './random.ts'

export const chainId = 31337
/** 2025-01-01T00:00:00Z. */
export const genesisTime = 1_735_689_600
/**
 * A test vector of BIP-39, and not the one that development nodes start with: contracts of the demo must not have the
 * addresses that a user's own contracts get on a local node.
 */
export const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
/** Account by account of the mnemonic, and what each does. */
export const roles = {
  deployer: 'deploys the contracts and hands out the first tokens',
  alice: 'the busiest wallet: sends and receives ether and tokens, swaps, pays for others',
  bob: 'sends and receives',
  carol: 'fails now and then, in every way there is',
  dave: 'adds and removes liquidity',
  erin: 'trades; sends access lists now and then',
  frank: 'collects NFTs',
  grace: 'keeps a smart wallet; her own address has the code of one from block 90 to 320 (EIP-7702)',
  heidi: 'takes over the Demo Dollar; saves',
  ivan: 'posts blobs of zeros (EIP-4844)',
  judy: 'holds; sends legacy transactions only',
  mallory: 'calls the harbor, and sends spam',
}

export type ActorName = keyof typeof roles

export interface Actor {
  name: ActorName
  address: Address
  account: LocalAccount
  nonce: number
}

export interface Deployed extends Contract {
  name: string
  address: Address
}

export interface Request {
  /** Absent: creates a contract. */
  to?: Address
  data?: Hex
  value?: bigint
  gas?: bigint
  /** The transaction must fail, where one that is not marked must succeed. */
  fails?: boolean
  type?: 'legacy' | 'eip2930' | 'eip1559'
  /** How many blobs it carries; they hold zeros. */
  blobs?: number
  /** Lets the account's code be that of a contract (EIP-7702); the zero address takes it away. */
  delegate?: { actor: Actor; to: Address }
}

export interface Chain {
  actors: Record<ActorName, Actor>
  random: Random
  contracts: Record<string, Contract>
  /** Number of the block that is being filled. */
  readonly height: number
  /** Time of the block that is being filled. */
  readonly time: number
  send(actor: Actor, request: Request): Promise<void>
  call(actor: Actor, contract: Deployed, name: string, args: unknown[], request?: Request): Promise<void>
  deploy(actor: Actor, name: string, args: unknown[], request?: Request & { as?: string }): Promise<Deployed>
  at(name: string, address: Address): Deployed
  /** Reads the state after the last block. */
  read<T>(contract: Deployed, name: string, args?: unknown[]): Promise<T>
  balance(address: Address): Promise<bigint>
  /** Closes the block that was filled, and makes sure that each transaction ended as it was meant to. */
  mine(): Promise<void>
}

const gwei = 1_000_000_000n
const builders = ['one', 'two', 'three'].map(name => keccak256(toHex(`block builder ${name}`)).slice(0, 42) as Address)

/** Drives an anvil block by block; everything by chance comes from the seed. */
export const createChain = (anvil: Anvil, contracts: Record<string, Contract>): Chain => {
  const client = createPublicClient({ transport: http(anvil.url), cacheTime: 0 })
  const random = createRandom(20_250_101)
  const actors = Object.fromEntries(
    Object.keys(roles).map((name, addressIndex): [string, Actor] => {
      const account = mnemonicToAccount(mnemonic, { addressIndex })
      return [name, { name: name as ActorName, address: account.address, account, nonce: 0 }]
    }),
  ) as Record<ActorName, Actor>
  let height = 1
  let time = genesisTime + 12
  let baseFee = 12n * gwei
  let queue: { raw: Hex; label: string; fails: boolean }[] = []

  const chain: Chain = {
    actors,
    random,
    contracts,
    get height() {
      return height
    },
    get time() {
      return time
    },

    async send(actor, request) {
      const { fails = false, delegate, blobs } = request
      const tip = BigInt(random.int(1, 300)) * (gwei / 100n)
      const common = {
        chainId,
        nonce: actor.nonce++,
        gas: request.gas ?? 21_000n,
        value: request.value ?? 0n,
        ...(request.to === undefined ? {} : { to: request.to }),
        ...(request.data === undefined ? {} : { data: request.data }),
      }
      const fees = { maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip }
      const type = request.type ?? typeOf(actor, random)
      const sign = actor.account.signTransaction
      let raw: Hex
      if (delegate !== undefined) {
        const { account, nonce } = delegate.actor
        const authorization = await account.signAuthorization!({ address: delegate.to, chainId, nonce })
        delegate.actor.nonce++
        raw = await sign({ ...common, ...fees, type: 'eip7702', authorizationList: [authorization] })
      } else if (blobs !== undefined) {
        const empty = new Uint8Array(131_072)
        raw = await sign({
          ...common,
          ...fees,
          to: request.to!,
          type: 'eip4844',
          blobs: Array.from({ length: blobs }, () => empty),
          kzg: { blobToKzgCommitment: () => infinity, computeBlobKzgProof: () => infinity },
          maxFeePerBlobGas: gwei,
        })
      } else if (type === 'eip1559') {
        raw = await sign({ ...common, ...fees, type })
      } else if (type === 'legacy') {
        raw = await sign({ ...common, gasPrice: baseFee + tip, type })
      } else {
        const accessList =
          request.to !== undefined && request.data !== undefined
            ? [{ address: request.to, storageKeys: [numberToHex(0, { size: 32 }), numberToHex(2, { size: 32 })] }]
            : []
        raw = await sign({ ...common, gas: common.gas + 10_000n, gasPrice: baseFee + tip, accessList, type })
      }
      queue.push({ raw, fails, label: `${actor.name} -> ${request.to} ${request.data?.slice(0, 10) ?? ''}` })
    },

    call(actor, contract, functionName, args, request = {}) {
      const data = encodeFunctionData({ abi: contract.abi, functionName, args })
      return chain.send(actor, { gas: 150_000n, ...request, to: contract.address, data })
    },

    async deploy(actor, name, args, { as = name, ...request } = {}) {
      const contract = contracts[name]!
      const address = getContractAddress({ from: actor.address, nonce: BigInt(actor.nonce) })
      await chain.send(actor, { gas: 5_000_000n, ...request, data: encodeDeployData({ ...contract, args }) })
      return { ...contract, name: as, address }
    },

    at: (name, address) => ({ ...contracts[name]!, name, address }),
    read: async <T>({ abi, address }: Deployed, functionName: string, args: unknown[] = []) =>
      (await client.readContract({ abi, address, functionName, args })) as T,
    balance: address => client.getBalance({ address }),

    async mine() {
      await anvil.rpc('anvil_setCoinbase', random.pick(builders))
      await anvil.rpc('evm_setNextBlockTimestamp', time)
      await anvil.rpc('anvil_setNextBlockBaseFeePerGas', numberToHex(baseFee))
      const hashes: unknown[] = []
      for (const { raw } of queue) hashes.push(await anvil.rpc('eth_sendRawTransaction', raw))
      await anvil.rpc('anvil_mine', '0x1')
      const receipts = (await anvil.rpc('eth_getBlockReceipts', numberToHex(height))) as Receipt[]
      if (receipts.length !== queue.length) {
        throw new Error(`block ${height} took ${receipts.length} of ${queue.length} transactions`)
      }
      for (const [i, { fails, label }] of queue.entries()) {
        const receipt = receipts[i]!
        if (receipt.transactionHash !== hashes[i]) throw new Error(`block ${height}: transaction ${i} is another`)
        if ((receipt.status === '0x0') !== fails) {
          const why = await whyFailed(anvil, contracts, hashes[i])
          throw new Error(`block ${height}: ${label} was to ${fails ? 'fail' : 'succeed'} but did not. ${why}`)
        }
      }
      queue = []
      height++
      // Now and then a slot is missed.
      time += random.chance(0.04) ? 24 : 12
      // A base fee by demand would sink to nothing in blocks as empty as these.
      baseFee = (baseFee * BigInt(random.int(885, 1125))) / 1000n
      if (baseFee < 4n * gwei) baseFee = 4n * gwei
      if (baseFee > 40n * gwei) baseFee = 40n * gwei
    },
  }
  return chain
}

interface Receipt {
  transactionHash: Hex
  status: Hex
}

/** The point at infinity: commitment to, and proof of, a blob of zeros, without any setup. */
const infinity = Uint8Array.from({ length: 48 }, (_, i) => (i === 0 ? 0xc0 : 0))

/** Wallets differ: judy's is old, erin's sends access lists now and then. */
const typeOf = (actor: Actor, random: Random): 'legacy' | 'eip2930' | 'eip1559' => {
  if (actor.name === 'judy') return 'legacy'
  if (actor.name === 'erin' && random.chance(0.3)) return 'eip2930'
  return random.chance(0.08) ? 'legacy' : 'eip1559'
}

const whyFailed = async (anvil: Anvil, contracts: Record<string, Contract>, hash: unknown): Promise<string> => {
  const trace = (await anvil.rpc('debug_traceTransaction', hash, { tracer: 'callTracer' })) as Record<string, Hex>
  for (const { abi } of Object.values(contracts)) {
    try {
      const { errorName, args } = decodeErrorResult({ abi, data: trace.output ?? '0x' })
      return `${errorName}(${args?.join(', ')})`
    } catch {
      // Not an error of this contract.
    }
  }
  return `${trace.error} ${trace.output}`
}
