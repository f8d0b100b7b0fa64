import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex, RawBlock, RpcLog, RpcReceipt, RpcTrace, RpcTransaction } from '../../src/chain/wire.ts'
import { encodeRlp } from '../../src/lib/rlp.ts'
import { createRandom, mix, quantity, trimmed } from '../lib/random.ts'
import { createAbi } from './abi.ts'
import { type Act, pickAction } from './actions.ts'
import { addressBits, createBloom, createPopulation, EMPTY_BLOOM, type Party, topicBits } from './population.ts'
import { createTracer, type Emission } from './traces.ts'

export type MadeChain = ReturnType<typeof createChain>

const BLOCK = 101
const BLOCK_HASH = 102
const TX_HASH = 103

const MAX_BLOBS = 9
const BLOB_GAS = 131_072

export interface ChainOptions {
  seed: number
  chainId: number
  /** Whether blocks carry their traces; the rest of them is the same either way. */
  traces: boolean
}

/** A chain shaped like Ethereum's of 2025, in the words of geth. Nothing in it depends on which blocks were asked for before. */
export const createChain = ({ seed, chainId, traces: isTraced }: ChainOptions) => {
  const root = mix(seed) ^ mix(chainId + 0x1000193)
  const random = createRandom()
  const hasher = createRandom()
  const abi = createAbi(random)
  const people = createPopulation(root, random)
  const stage = { random, abi, people }
  const receiptBloom = createBloom()
  const blockBloom = createBloom()
  const chainIdText = quantity(chainId)
  const tracer = isTraced ? createTracer(root) : undefined

  const hashOf = (kind: number, block: number, index: number): Hex => {
    hasher.seek(root, kind, block, index)
    return `0x${hasher.word()}`
  }
  const word = (): Hex => `0x${random.word()}`
  /** The s of a signature is in the lower half of its range. */
  const signature = () => {
    const s = random.word()
    return { r: trimmed(random.word()), s: trimmed(`${LOWER[s.charCodeAt(0) & 7]}${s.slice(1)}`) }
  }
  const ether = (): Hex => {
    abi.amount(people.weth)
    return trimmed(abi.take().slice(2))
  }
  const nonceOf = (sender: Party, block: number, index: number): number =>
    sender.heat >= 0 ? block * 256 + index : random.skewed(2000)

  const makeBlock = (number: number): RawBlock => {
    random.seek(root, BLOCK, number, 0)
    people.at(number)
    tracer?.at(number)
    blockBloom.clear()
    const blockHash = hashOf(BLOCK_HASH, number, 0)
    const blockNumber = quantity(number)
    const timestamp = number * 12 + GENESIS
    const blockTimestamp = quantity(timestamp)
    // Gas was dear in 2021 and is cheap in 2025; here it swings between 1 and 20 gwei within hours.
    const baseFee = Math.floor(1e9 * (1 + 9.5 * (1 + Math.sin(number / 1500))) * (0.9 + 0.2 * random.unit()))
    const blobFee = 1 + random.below(1e9)
    const size = 80 + random.below(141)

    const transactions: RpcTransaction[] = []
    const receipts: RpcReceipt[] = []
    const traces: RpcTrace[] = []
    let emissions: Emission[] = []
    let logs: RpcLog[] = []
    let logIndex = 0
    let gasSum = 0
    let blobs = 0
    let transactionHash = ''
    let transactionIndex = ''

    const act: Act = {
      sender: people.zero,
      to: null,
      pays: false,
      input: '0x',
      gasUsed: 0,
      emit(emitter, topics, data) {
        emissions.push({ emitter, topics, data })
        receiptBloom.add(addressBits(emitter))
        const texts: Hex[] = []
        for (const topic of topics) {
          receiptBloom.add(topicBits(topic))
          texts.push(topic.topic)
        }
        logs.push({
          address: emitter.address,
          topics: texts,
          data,
          blockNumber,
          transactionHash,
          transactionIndex,
          blockHash,
          blockTimestamp,
          logIndex: quantity(logIndex + logs.length),
          removed: false,
        })
      },
    }

    for (let i = 0; i < size; i++) {
      transactionHash = hashOf(TX_HASH, number, i)
      transactionIndex = quantity(i)
      logs = []
      emissions = []
      act.sender = people.sender()
      act.pays = random.unit() < 0.08
      act.input = '0x'
      receiptBloom.clear()
      pickAction(random).run(act, stage)
      const failed = act.gasUsed > 21_000 && random.unit() < 0.03
      if (failed) logs = []
      else if (logs.length > 0) blockBloom.merge(receiptBloom)
      logIndex += logs.length

      const gasUsed = Math.round(act.gasUsed * (0.95 + 0.1 * random.unit()))
      const used = act.gasUsed === 21_000 ? 21_000 : gasUsed
      gasSum += used
      const kind = act.to === null ? 2 : typeOf(random.unit(), blobs)
      const tip = random.unit() < 0.2 ? 0 : Math.floor(1e7 * Math.exp(2 * random.normal() + 2))
      const maxFee = Math.floor(baseFee * (1.1 + random.unit())) + tip
      const price = kind < 2 ? baseFee + tip : Math.min(maxFee, baseFee + tip)
      const nonce = nonceOf(act.sender, number, i)
      const from = act.sender.address
      const to = act.to?.address ?? null
      const type = quantity(kind)
      const gas = used === 21_000 ? '0x5208' : quantity(Math.floor(used * (1.05 + random.unit())))
      const { r, s } = signature()
      const yParity = quantity(random.below(2))
      const gasPrice = quantity(price)

      const tx: RpcTransaction = {
        blockHash,
        blockNumber,
        blockTimestamp,
        from,
        gas,
        gasPrice,
        ...(kind >= 2 && { maxFeePerGas: quantity(maxFee), maxPriorityFeePerGas: quantity(tip) }),
        ...(kind === 3 && { maxFeePerBlobGas: quantity(blobFee * 2) }),
        hash: transactionHash,
        input: act.input,
        nonce: quantity(nonce),
        to,
        transactionIndex,
        value: act.pays ? ether() : '0x0',
        type,
        ...(kind >= 1 && { accessList: kind === 1 || random.unit() < 0.04 ? accessList() : [] }),
        chainId: chainIdText,
        v: kind === 0 ? quantity(chainId * 2 + 35 + Number(yParity)) : yParity,
        r,
        s,
        ...(kind >= 1 && { yParity }),
      }
      const receipt: RpcReceipt = {
        blockHash,
        blockNumber,
        contractAddress: to === null && !failed ? createdBy(act.sender, nonce) : null,
        cumulativeGasUsed: quantity(gasSum),
        effectiveGasPrice: gasPrice,
        from,
        gasUsed: quantity(used),
        logs,
        logsBloom: logs.length === 0 ? EMPTY_BLOOM : receiptBloom.text(),
        status: failed ? '0x0' : '0x1',
        to,
        transactionHash,
        transactionIndex,
        type,
      }
      if (kind === 3) {
        const count = 1 + random.below(Math.min(3, MAX_BLOBS - blobs))
        blobs += count
        tx.blobVersionedHashes = Array.from({ length: count }, () => `0x01${random.word().slice(2)}`)
        receipt.blobGasPrice = quantity(blobFee)
        receipt.blobGasUsed = quantity(count * BLOB_GAS)
      }
      if (kind === 4) tx.authorizationList = [authorization()]
      transactions.push(tx)
      receipts.push(receipt)
      if (tracer) {
        const { sender, to, input } = act
        const block = { hash: blockHash, number }
        const costs = { gas: Number(gas) - 21_000, gasUsed: used - 21_000 }
        const rest = { created: receipt.contractAddress as Hex | null, failed, emissions }
        const deed = {
          block,
          hash: transactionHash,
          index: i,
          sender,
          to,
          value: tx.value as Hex,
          input,
          ...costs,
          ...rest,
        }
        for (const trace of tracer.traces(deed)) traces.push(trace)
      }
    }

    const block = {
      baseFeePerGas: quantity(baseFee),
      blobGasUsed: quantity(blobs * BLOB_GAS),
      difficulty: '0x0',
      excessBlobGas: quantity(random.below(600) * BLOB_GAS),
      extraData: EXTRA[random.below(EXTRA.length)]!,
      gasLimit: '0x2aea540',
      gasUsed: quantity(gasSum),
      hash: blockHash,
      logsBloom: blockBloom.text(),
      miner: people.builder().address,
      mixHash: word(),
      nonce: '0x0000000000000000',
      number: blockNumber,
      parentBeaconBlockRoot: word(),
      parentHash: number === 0 ? `0x${'0'.repeat(64)}` : hashOf(BLOCK_HASH, number - 1, 0),
      receiptsRoot: word(),
      requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
      size: quantity(1500 + transactions.reduce((sum, tx) => sum + 120 + tx.input.length / 2, 0)),
      stateRoot: word(),
      timestamp: blockTimestamp,
      transactions,
      transactionsRoot: word(),
      uncles: [],
      withdrawals: withdrawals(number),
      withdrawalsRoot: word(),
    }
    return { chainId, block, receipts, ...(tracer && { traces }) }
  }

  const accessList = () =>
    Array.from({ length: 1 + random.below(3) }, () => ({
      address: people.token().address,
      storageKeys: Array.from({ length: random.below(4) }, word),
    }))

  const authorization = () => ({
    chainId: chainIdText,
    address: people.emitter(0).address,
    nonce: quantity(random.skewed(50)),
    yParity: quantity(random.below(2)),
    ...signature(),
  })

  const withdrawals = (number: number) =>
    Array.from({ length: 16 }, (_, i) => {
      const index = number * 16 + i
      return {
        index: quantity(index),
        validatorIndex: quantity(index % 1_050_000),
        address: people.validator(index).address,
        amount: quantity(18_000_000 + random.below(1_500_000)),
      }
    })

  return { block: makeBlock }
}

/** Share of each transaction type: 75 % dynamic fee, 17.5 % legacy, 3 % with an access list, 2.5 % blobs, 2 % set code. */
const typeOf = (dice: number, blobs: number): number => {
  if (dice < 0.75) return 2
  if (dice < 0.925) return 0
  if (dice < 0.955) return 1
  if (dice < 0.98) return blobs < MAX_BLOBS ? 3 : 2
  return 4
}

/** The address that a creation gives, by sender and nonce. */
const createdBy = (sender: Party, nonce: number): Hex => {
  const digits = nonce === 0 ? '' : nonce.toString(16)
  const encoded = encodeRlp([sender.bytes, Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')])
  return `0x${Buffer.from(keccak_256(encoded)).toString('hex', 12)}`
}

/** What block 0 would have had if all blocks had come every 12 seconds: block 22,600,000 is of May 2025. */
const GENESIS = 1_476_953_411

const LOWER = '01234567'
const EXTRA = ['beaverbuild.org', 'Titan (titanbuilder.xyz)', 'rsync-builder.xyz', 'geth go1.24 linux', ''].map(
  text => `0x${Buffer.from(text).toString('hex')}`,
)
