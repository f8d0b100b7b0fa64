import { type Field, is } from '../kinds.ts'

/** Fields that few chains have, by the chains that have them. */

const ofReceipt = (rare: number) => ({ origin: 'receipt', rare }) as const

export const txOfChains = {
  blobGasUsed: is.quantity(
    'Blob gas that the transaction used (EIP-4844); its share of data on the OP stack.',
    ofReceipt(1),
  ),
  blobGasPrice: is.quantity('Price per blob gas that was paid (EIP-4844).', ofReceipt(2)),

  sourceHash: is.hex('What a deposit from the parent chain comes from. OP stack.', { bytes: 32, rare: 3 }),
  mint: is.amount('Amount that a deposit brings from the parent chain. OP stack.', { rare: 4 }),
  isSystemTx: is.boolean('Whether a deposit is the chain’s own and pays no gas. OP stack.', { rare: 5 }),
  depositReceiptVersion: is.quantity('Form of a deposit’s receipt. OP stack.', ofReceipt(6)),
  depositNonce: is.quantity('Nonce of the sender of a deposit. OP stack.', ofReceipt(7)),
  l1Fee: is.amount('Fee for the data that is posted to the parent chain. OP stack, Scroll.', ofReceipt(8)),
  l1GasUsed: is.quantity('Gas of the parent chain that this fee is for. OP stack.', ofReceipt(9)),
  l1GasPrice: is.quantity('Base fee of the parent chain that this fee goes by. OP stack.', ofReceipt(10)),
  l1FeeScalar: is.keyword('Factor of this fee, as a decimal number. OP stack before Ecotone.', ofReceipt(11)),
  l1BaseFeeScalar: is.quantity('Factor of the base fee in this fee. OP stack since Ecotone.', ofReceipt(12)),
  l1BlobBaseFee: is.quantity('Blob base fee of the parent chain. OP stack since Ecotone.', ofReceipt(13)),
  l1BlobBaseFeeScalar: is.quantity('Factor of the blob base fee. OP stack since Ecotone.', ofReceipt(14)),
  operatorFeeScalar: is.quantity('Factor of the operator’s fee. OP stack since Isthmus.', ofReceipt(15)),
  operatorFeeConstant: is.quantity('Constant part of the operator’s fee. OP stack since Isthmus.', ofReceipt(16)),
  daFootprintGasScalar: is.quantity('Gas per byte of posted data. OP stack since Jovian.', ofReceipt(17)),

  gasUsedForL1: is.quantity('Part of the used gas that pays for data on the parent chain. Arbitrum.', ofReceipt(18)),
  l1BlockNumber: is.quantity('Block of the parent chain that contracts see as theirs. Arbitrum.', ofReceipt(19)),
  requestId: is.hex('Message of the parent chain that brought the transaction. Arbitrum.', { bytes: 32, rare: 20 }),
  ticketId: is.hex('Ticket that a retry redeems. Arbitrum.', { bytes: 32, rare: 21 }),
  maxRefund: is.amount('Most that a retry pays back. Arbitrum.', { rare: 22 }),
  submissionFeeRefund: is.amount('Part of the submission’s fee that a retry pays back. Arbitrum.', { rare: 23 }),
  refundTo: is.address('Receiver of what is paid back. Arbitrum.', { rare: 24 }),
  l1BaseFee: is.quantity('Base fee of the parent chain at the submission of a ticket. Arbitrum.', { rare: 25 }),
  depositValue: is.amount('Amount that came with a ticket. Arbitrum.', { rare: 26 }),
  retryTo: is.address('Receiver of the call that a ticket is for. Arbitrum.', { rare: 27 }),
  retryValue: is.amount('Amount of the call that a ticket is for. Arbitrum.', { rare: 28 }),
  retryData: is.hex('Call data of the call that a ticket is for. Arbitrum.', { rare: 29 }),
  beneficiary: is.address('Account that may cancel a ticket. Arbitrum.', { rare: 30 }),
  maxSubmissionFee: is.amount('Most that is paid for the submission of a ticket. Arbitrum.', { rare: 31 }),
  timeboosted: is.boolean('Whether the transaction came by the express lane. Arbitrum.', ofReceipt(32)),

  l1BatchNumber: is.quantity('Batch that took the transaction to the parent chain. zkSync.', { rare: 33 }),
  l1BatchTxIndex: is.quantity('Place of the transaction in its batch. zkSync.', { rare: 34 }),

  feeCurrency: is.address('Token that the fee is paid in. Celo.', { rare: 35 }),
  maxFeeInFeeCurrency: is.quantity('Most that is paid, in that token. Celo.', { rare: 36 }),
  gatewayFee: is.quantity('Fee of the full node that passed the transaction on. Celo before its migration.', {
    rare: 37,
  }),
  gatewayFeeRecipient: is.address('Receiver of that fee. Celo before its migration.', { rare: 38 }),
  baseFee: is.quantity('Base fee in the token that the fee is paid in. Celo.', ofReceipt(39)),

  queueIndex: is.quantity('Place of a message in the queue of the parent chain. Scroll.', { rare: 40 }),
} satisfies Record<string, Field>

export const blockOfChains = {
  requestsHash: is.hex('Hash of the requests to the consensus layer (EIP-7685).', { bytes: 32, rare: 1 }),

  l1BlockNumber: is.quantity('Block of the parent chain that contracts see as theirs. Arbitrum.', { rare: 2 }),
  sendCount: is.quantity('Messages to the parent chain since the start. Arbitrum.', { rare: 3 }),
  sendRoot: is.hex('Root of the tree of these messages. Arbitrum.', { bytes: 32, rare: 4 }),

  l1BatchNumber: is.quantity('Batch that took the block to the parent chain. zkSync.', { rare: 5 }),
  l1BatchTimestamp: is.quantity('Time of that batch, in seconds since 1970. zkSync.', { rare: 6 }),

  blockGasCost: is.quantity('Gas that the block’s builder must pay for. Avalanche.', { rare: 7 }),
  extDataGasUsed: is.quantity('Gas of the block’s atomic transactions. Avalanche.', { rare: 8 }),
  extDataHash: is.hex('Hash of the block’s atomic transactions. Avalanche.', { bytes: 32, rare: 9 }),
  timestampMilliseconds: is.quantity('Time of the block, in milliseconds since 1970. Avalanche.', { rare: 10 }),

  milliTimestamp: is.quantity('Time of the block, in milliseconds since 1970. BNB chain.', { rare: 11 }),
} satisfies Record<string, Field>
