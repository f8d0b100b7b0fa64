import { type DocumentMapping, decoded, is } from '../kinds.ts'
export const contract = {
  doc: 'A contract, from its creation on. Its id is its address; where a contract destroyed itself and was created again, each creation is found, and the id names the latest.',
  name: 'A contract',
  parents: [],
  stored: { in: 'rows' },
  fields: {
    address: decoded.address('Address of the contract.'),
    creator: decoded.address(
      'Who created it: the sender of the transaction, or the contract that did so inside of it.',
    ),
    origin: is.address('Account that began its creation: the sender of the transaction, also through factories.', {
      origin: 'transaction',
    }),
    transactionHash: is.hex('Transaction that created it.', { origin: 'transaction', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    codeHash: decoded.hex('Keccak-256 of its code, null where the code is not known.', { bytes: 32 }),
    codeSize: decoded.long('Bytes of its code.'),
    selectors: decoded.hexList('Functions that its code can have, by their selectors.', { bytes: 4 }),
    topics: decoded.hexList('Events that its code can have, by their first topics.', { bytes: 32 }),
    name: decoded.text('Name of the ABI that was given for it, or for the code that is nearest to its own.'),
    standard: decoded.keyword('Standard that it implements, such as `ERC-20`, `ERC-721`, `EIP-1967` or `Safe`.'),
    standardSource: decoded.keyword('How that is known: `selectors` of its functions, or its `bytecode`.', {
      values: ['selectors', 'bytecode'],
    }),
    implementation: decoded.address(
      'Contract that it passed its calls on to when it was created, where it is a proxy.',
    ),
    'abi.source': decoded.keyword(
      'Where its functions and events are known from: an ABI for its `address`, its `codeHash`, its `implementation` or a `similar` contract, or only its `signatures`.',
      { values: ['address', 'codeHash', 'implementation', 'similar', 'signatures'] },
    ),
    probability: decoded.double('How sure that is: 1 for an ABI that was given for it, less where it was guessed.'),
  },
} satisfies DocumentMapping

export const token = {
  doc: 'A token, told by what it emits or by its code. Its id is its address. Name, symbol and decimals are what the contract answers at the head of the chain, or else what the bundled list says.',
  name: 'A token',
  parents: [],
  stored: { in: 'rows' },
  fields: {
    address: decoded.address('Contract of the token.'),
    name: decoded.text('What it calls itself, null where it does not say.'),
    symbol: decoded.text('Its symbol, null where it does not say.'),
    decimals: decoded.long('Digits behind the point of its amounts, null where it has none.'),
    standard: decoded.keyword('`ERC-20`, `ERC-721`, `ERC-1155` or `ERC-4626`.', {
      values: ['ERC-20', 'ERC-721', 'ERC-1155', 'ERC-4626'],
    }),
    firstSeen: is.quantity('Lowest indexed block in which it was seen.', { origin: 'position' }),
    blockHash: is.hex('Hash of that block.', { origin: 'block', bytes: 32 }),
    timestamp: is.datetime('Time of that block, in UTC.', { origin: 'block' }),
    error: decoded.keyword('What is wrong with its answers, null where nothing is.'),
  },
} satisfies DocumentMapping
