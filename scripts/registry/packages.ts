/**
 * Where signatures come from, in the order that settles ties: what adds most comes first. Permissive licences only.
 * `@aragon/os` is offered under GPL-3.0-or-later or MIT; MIT is taken.
 */
export const npmPackages = [
  { name: '@paraswap/dex-lib', version: '5.0.6', licence: 'MIT' },
  { name: '@reservoir0x/sdk', version: '0.0.372', licence: 'MIT' },
  { name: '@connext/smart-contracts', version: '2.4.0', licence: 'ISC' },
  { name: '@hop-protocol/core', version: '0.0.1-beta.236', licence: 'MIT' },
  { name: 'thirdweb', version: '5.121.6', licence: 'Apache-2.0' },
  { name: '@eth-optimism/contracts-bedrock', version: '0.17.3', licence: 'MIT' },
  { name: '@eth-optimism/contracts', version: '0.6.0', licence: 'MIT' },
  { name: 'zksync', version: '0.13.1', licence: 'MIT' },
  { name: '@arbitrum/sdk', version: '4.1.0', licence: 'Apache-2.0' },
  { name: '@curvefi/api', version: '2.65.13', licence: 'MIT' },
  { name: 'viem', version: '2.57.20', licence: 'MIT' },
  { name: '@1inch/limit-order-protocol-utils', version: '4.0.1', licence: 'MIT' },
  { name: '@bgd-labs/aave-address-book', version: '4.44.22', licence: 'MIT' },
  { name: '@openzeppelin/contracts', version: '4.9.6', licence: 'MIT' },
  { name: '@openzeppelin/contracts', version: '5.7.0', licence: 'MIT' },
  { name: '@opensea/seaport-js', version: '4.3.0', licence: 'MIT' },
  { name: '@safe-global/safe-deployments', version: '1.37.56', licence: 'MIT' },
  { name: '@0x/contract-artifacts', version: '3.18.1', licence: 'Apache-2.0' },
  { name: '@uniswap/v4-periphery', version: '1.0.3', licence: 'MIT' },
  { name: '@uniswap/permit2-sdk', version: '1.4.0', licence: 'MIT' },
  { name: '@account-abstraction/contracts', version: '0.8.0', licence: 'MIT' },
  { name: '@certusone/wormhole-sdk', version: '0.10.18', licence: 'Apache-2.0' },
  { name: '@lido-sdk/contracts', version: '3.0.5', licence: 'MIT' },
  { name: '@compound-finance/compound-js', version: '0.6.2', licence: 'BSD-3-Clause' },
  { name: '@makerdao/dai-plugin-mcd', version: '1.8.5', licence: 'MIT' },
  { name: '@maticnetwork/meta', version: '2.4.59', licence: 'MIT' },
  { name: '@ensdomains/ethregistrar', version: '2.0.5', licence: 'ISC' },
  { name: '@morpho-org/blue-sdk-viem', version: '5.2.1', licence: 'MIT' },
  { name: 'sushi', version: '7.3.15', licence: 'MIT' },
  { name: '@sushiswap/core', version: '1.4.2', licence: 'MIT' },
  { name: '@chainlink/contracts', version: '0.8.0', licence: 'MIT' },
  { name: 'synthetix', version: '2.102.1', licence: 'MIT' },
  { name: '@looksrare/sdk', version: '0.12.1', licence: 'MIT' },
  { name: '@zoralabs/protocol-deployments', version: '0.7.6', licence: 'MIT' },
  { name: '@manifoldxyz/creator-core-solidity', version: '3.0.0', licence: 'ISC' },
  { name: 'zksync-ethers', version: '6.21.1', licence: 'MIT' },
  { name: '@aave/contract-helpers', version: '1.38.0', licence: 'MIT' },
  { name: '@aragon/os', version: '4.4.0', licence: 'MIT' },
  { name: '@balancer/sdk', version: '6.1.1', licence: 'MIT' },
  { name: '@consensys/linea-sdk', version: '0.3.0', licence: 'Apache-2.0' },
  { name: '@lidofinance/lido-ethereum-sdk', version: '4.9.0', licence: 'MIT' },
  { name: '@uniswap/uniswapx-sdk', version: '3.1.0', licence: 'MIT' },
] as const

export const pythonPackages = [{ name: 'web3-ethereum-defi', version: '1.2', licence: 'MIT' }] as const

/** The dump of a decompiler: the declarations of functions of contracts up to early 2023, see `panoramix.ts`. */
export const panoramix = {
  name: 'panoramix-decompiler',
  version: '0.6.1',
  licence: 'MIT',
  sha256: 'da9c776acdd20210e1b811963e59f2c8e63dc32102fb4d30192712b3e10ed982',
} as const
