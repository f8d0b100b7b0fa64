import { type DocumentMapping, is } from '../kinds.ts'

export const token = {
  doc: 'A token, told by what it emits or by its code. Its id is its address. Name, symbol and decimals are what the contract answers at the head of the chain, or else what the bundled list says.',
  name: 'A token',
  parents: [],
  stored: { in: 'rows' },
  fields: {
    address: is.address('Contract of the token.', { origin: 'decoded' }),
    name: is.text('What it calls itself, null where it does not say.', { origin: 'decoded' }),
    symbol: is.text('Its symbol, null where it does not say.', { origin: 'decoded' }),
    decimals: is.long('Digits behind the point of its amounts, null where it has none.', { origin: 'decoded' }),
    standard: is.keyword('`ERC-20`, `ERC-721`, `ERC-1155` or `ERC-4626`.', {
      origin: 'decoded',
      values: ['ERC-20', 'ERC-721', 'ERC-1155', 'ERC-4626'],
    }),
    firstSeen: is.quantity('Lowest indexed block in which it was seen.', { origin: 'position' }),
    blockHash: is.hex('Hash of that block.', { origin: 'block', bytes: 32 }),
    timestamp: is.datetime('Time of that block, in UTC.', { origin: 'block' }),
    error: is.keyword('What is wrong with its answers, null where nothing is.', { origin: 'decoded' }),
  },
} satisfies DocumentMapping
