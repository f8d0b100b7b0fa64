import { type DocumentMapping, decodedField, is } from '../kinds.ts'
export const contractMapping = {
  doc: 'A contract, from its creation on. Its id is its address; where a contract destroyed itself and was created again, each creation is found, and the id names the latest.',
  name: 'A contract',
  parents: [],
  stored: { in: 'rows' },
  fields: {
    address: decodedField.address('Address of the contract.'),
    creator: decodedField.address(
      'Who created it: the sender of the transaction, or the contract that did so inside of it.',
    ),
    origin: is.address('Account that began its creation: the sender of the transaction, also through factories.', {
      origin: 'transaction',
    }),
    transactionHash: is.hex('Transaction that created it.', { origin: 'transaction', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    codeHash: decodedField.hex('Keccak-256 of its code, null where the code is not known.', { bytes: 32 }),
    codeSize: decodedField.long('Bytes of its code.'),
    selectors: decodedField.hexList('Functions that its code can have, by their selectors.', { bytes: 4 }),
    topics: decodedField.hexList('Events that its code can have, by their first topics.', { bytes: 32 }),
    name: decodedField.text('Name of the ABI that was given for it, or for the code that is nearest to its own.'),
    standard: decodedField.keyword('Standard that it implements, such as `ERC-20`, `ERC-721`, `EIP-1967` or `Safe`.'),
    standardSource: decodedField.keyword('How that is known: `selectors` of its functions, or its `bytecode`.', {
      values: ['selectors', 'bytecode'],
    }),
    implementation: decodedField.address(
      'Contract that it passed its calls on to when it was created, where it is a proxy.',
    ),
    'abi.source': decodedField.keyword(
      'Where its functions and events are known from: an ABI for its `address`, its `codeHash`, its `implementation` or a `similar` contract, or only its `signatures`.',
      { values: ['address', 'codeHash', 'implementation', 'similar', 'signatures'] },
    ),
    probability: decodedField.double(
      'How sure that is: 1 for an ABI that was given for it, less where it was guessed.',
    ),
  },
} satisfies DocumentMapping

export const tokenMapping = {
  doc: 'A token contract, recognised by its events or its code. Its id is its address. Name, symbol and decimals are what the contract answers at the head of the chain, or else what the bundled list says.',
  name: 'A token',
  parents: [],
  stored: { in: 'rows' },
  fields: {
    address: decodedField.address('Contract of the token.'),
    name: decodedField.text('What it calls itself, null where it does not say.'),
    symbol: decodedField.text('Its symbol, null where it does not say.'),
    decimals: decodedField.long('Digits behind the point of its amounts, null where it has none.'),
    standard: decodedField.keyword('`ERC-20`, `ERC-721`, `ERC-1155` or `ERC-4626`.', {
      values: ['ERC-20', 'ERC-721', 'ERC-1155', 'ERC-4626'],
    }),
    firstSeen: is.quantity('Lowest indexed block in which it was seen.', { origin: 'position' }),
    blockHash: is.hex('Hash of that block.', { origin: 'block', bytes: 32 }),
    timestamp: is.datetime('Time of that block, in UTC.', { origin: 'block' }),
    error: decodedField.keyword('What is wrong with its answers, null where nothing is.'),
  },
} satisfies DocumentMapping
