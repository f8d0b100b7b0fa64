import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex } from '../../src/chain/wire.ts'

/** A function that made-up contracts call of one another. Its arguments are of static types. */
export interface MadeFunction {
  /** Canonical form, e.g. `transfer(address,uint256)`. */
  signature: string
  selector: Hex
  inputs: string[]
  outputs: string[]
}

/** Reads `name(type,…) type …`: behind the arguments the words that it returns. */
const parseFunction = (text: string): MadeFunction => {
  const [signature = '', ...outputs] = text.split(' ')
  const list = signature.slice(signature.indexOf('(') + 1, -1)
  return { signature, selector: selectorOf(signature), inputs: list === '' ? [] : list.split(','), outputs }
}

const selectorOf = (signature: string): Hex =>
  `0x${Buffer.from(keccak_256(Buffer.from(signature))).toString('hex', 0, 4)}`

/** Those that belong to the common events, and what they call in turn; their arguments are made by hand. */
export const CALLED = {
  transfer: selectorOf('transfer(address,uint256)'),
  transferFrom: selectorOf('transferFrom(address,address,uint256)'),
  approve: selectorOf('approve(address,uint256)'),
  permit: selectorOf('permit(address,address,uint256,uint256,uint8,bytes32,bytes32)'),
  balanceOf: selectorOf('balanceOf(address)'),
  getReserves: selectorOf('getReserves()'),
  swapV2: selectorOf('swap(uint256,uint256,address,bytes)'),
  swapV3: selectorOf('swap(address,bool,int256,uint160,bytes)'),
  callbackV3: selectorOf('uniswapV3SwapCallback(int256,int256,bytes)'),
  mintV2: selectorOf('mint(address)'),
  burnV2: selectorOf('burn(address)'),
  deposit: selectorOf('deposit()'),
  withdraw: selectorOf('withdraw(uint256)'),
  safeTransfer721: selectorOf('safeTransferFrom(address,address,uint256)'),
  received721: selectorOf('onERC721Received(address,address,uint256,bytes)'),
  safeTransfer1155: selectorOf('safeTransferFrom(address,address,uint256,uint256,bytes)'),
  approveAll: selectorOf('setApprovalForAll(address,bool)'),
  /** What a revert with a reason returns. */
  error: selectorOf('Error(string)'),
} satisfies Record<string, Hex>

/** What contracts ask others beside balances, the likely ones first. */
export const VIEWS: readonly MadeFunction[] = `
allowance(address,address) uint256
totalSupply() uint256
getReserves() uint112 uint112 uint48
slot0() uint160 int24 uint16 uint16 uint16 uint8 bool
decimals() uint8
owner() address
latestRoundData() uint64 uint256 uint48 uint48 uint64
token0() address
token1() address
getPair(address,address) address
nonces(address) uint256
ownerOf(uint256) address
isApprovedForAll(address,address) bool
liquidity() uint128
getAssetPrice(address) uint256
convertToAssets(uint256) uint256
paused() bool
fee() uint24
implementation() address
hasRole(bytes32,address) bool
getUserAccountData(address) uint256 uint256 uint256 uint256 uint256 uint256
latestAnswer() uint256
exchangeRateStored() uint256
get_virtual_price() uint256
asset() address`
  .trim()
  .split('\n')
  .map(parseFunction)

/** What contracts have others do, the likely ones first. */
export const DEEDS: readonly MadeFunction[] = `
mint(address,uint256)
burn(uint256)
burn(address,uint256)
deposit(uint256,address) uint256
withdraw(uint256,address,address) uint256
accrueInterest() uint256
supply(address,uint256,address,uint16)
borrow(address,uint256,uint256,uint16,address)
repay(address,uint256,uint256,address) uint256
redeem(uint256) uint256
exchange(int128,int128,uint256,uint256) uint256
getReward()
stake(uint256)
claim(address)
harvest()
notifyRewardAmount(uint256)
collect(address,uint256)
increaseAllowance(address,uint256) bool
updateState() bool
skim(address)
poke(address,uint256)
transferOwnership(address)`
  .trim()
  .split('\n')
  .map(parseFunction)

/** Selectors that no registry has. */
export const UNKNOWN_SELECTORS: readonly Hex[] = Array.from(
  { length: 2000 },
  (_, i) => `0x${(Math.imul(i + 7, 0x7feb352d) >>> 0).toString(16).padStart(8, '0')}`,
)
