/** More than a million USDT minted to one account in ten minutes. */
export const MINTED = {
  targetType: 'Event',
  targetMap: [
    { name: 'address', operator: 'Equals', value: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
    { name: 'event', operator: 'Equals', value: 'Transfer' },
    {
      name: 'args',
      operator: 'Inspect',
      operatorParameters: [{ name: 'from', operator: 'Equals', value: '0x0000000000000000000000000000000000000000' }],
    },
  ],
  when: {
    by: ['args.to'],
    within: { seconds: 600 },
    conditions: [{ aggregate: 'Sum', name: 'args.value.scaled', operator: 'Greater', value: '1000000' }],
  },
  notify: { resolved: true },
}

/** A price feed is silent. */
export const SILENT_FEED = {
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: 'AnswerUpdated' }],
  when: {
    by: ['address'],
    keys: ['0x37bC7498f4FF12C19678ee8fE19d939b87F6a27B', '0xdc3ea94cd0ac27d9a86c180091e7f78c683d3699'],
    within: { seconds: 3900 },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  },
  notify: { resolved: true, again: { after: { seconds: 21600 } } },
}

/** One sender pays fifty accounts in a hundred blocks. */
export const MANY_RECEIVERS = {
  targetType: 'Event',
  targetMap: [
    { name: 'address', operator: 'Equals', value: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
    { name: 'event', operator: 'Equals', value: 'Transfer' },
  ],
  when: {
    by: ['args.from'],
    within: { blocks: 100 },
    conditions: [
      { aggregate: 'Distinct', name: 'args.to', operator: 'Greater or Equal', value: '50' },
      { aggregate: 'Sum', name: 'args.value.scaled', operator: 'Greater', value: '10000' },
    ],
  },
}

/** An owner changes, then code is upgraded within 300 blocks, without a timelock. */
export const CHANGED_THEN_UPGRADED = {
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: 'OwnershipTransferred' }],
  when: {
    steps: [
      { by: ['address'] },
      { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Upgraded' }], by: ['address'] },
    ],
    within: { blocks: 300 },
    until: {
      targetType: 'Event',
      targetMap: [{ name: 'event', operator: 'Equals', value: 'CallScheduled' }],
      by: ['args.target'],
    },
  },
}

/** Scheduled in a timelock, and neither executed nor cancelled after three days. */
export const SCHEDULED_AND_LEFT = {
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: 'CallScheduled' }],
  when: {
    steps: [
      { by: ['address', 'args.id'] },
      {
        missing: true,
        targetType: 'Event',
        targetMap: [{ name: 'event', operator: 'Equals any', value: ['CallExecuted', 'Cancelled'] }],
        by: ['address', 'args.id'],
      },
    ],
    within: { seconds: 259200 },
  },
}

/** A relayer runs out of gas money. */
export const RELAYER_WITHOUT_GAS = {
  targetType: 'State',
  targetMap: [{ name: 'value.coin', operator: 'Less', value: '0.5' }],
  read: {
    balances: ['0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C', '0x1454168e82efA260f49a6F86612cc6414Ba633e9'],
    every: { blocks: 25 },
  },
  when: {
    by: ['address'],
    hold: { blocks: 5 },
    resolve: [{ name: 'value.coin', operator: 'Greater or Equal', value: '1' }],
  },
  notify: { resolved: true, again: { after: { seconds: 86400 }, if: 'Worse' } },
}

/** A health factor is low for ten blocks. */
export const LOW_HEALTH_FACTOR = {
  targetType: 'State',
  targetMap: [{ name: 'result.healthFactor.scaled', operator: 'Less', value: '1.05' }],
  read: {
    address: '0x87870Bca3F3fD6335C3F4ce8392D69350B4fA4E2',
    call: 'function getUserAccountData(address user) view returns (uint256 totalCollateralBase, uint256 totalDebtBase, uint256 availableBorrowsBase, uint256 currentLiquidationThreshold, uint256 ltv, uint256 healthFactor)',
    args: ['0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'],
    decimals: 18,
    every: { blocks: 1 },
  },
  when: {
    hold: { blocks: 10 },
    resolve: [{ name: 'result.healthFactor.scaled', operator: 'Greater or Equal', value: '1.15' }],
  },
  notify: { resolved: true },
}

/** Five times as many failed transactions of a router as in the last hour. */
export const FAILING_ROUTER = {
  targetType: 'Transaction',
  targetMap: [
    { name: 'to', operator: 'Equals', value: '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45' },
    { name: 'status', operator: 'Equals', value: 'false' },
  ],
  when: {
    within: { seconds: 300 },
    conditions: [
      { aggregate: 'Count', operator: 'Greater', value: '5', relativeTo: { windows: 12 } },
      { aggregate: 'Count', operator: 'Greater or Equal', value: '20' },
    ],
  },
}

/** Someone calls an admin method for the first time in thirty days. */
export const NEW_ADMIN = {
  targetType: 'Method',
  targetMap: [
    { name: 'to', operator: 'Equals', value: '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45' },
    { name: 'method', operator: 'Equals any', value: ['pause', 'setOwner', 'upgradeTo'] },
  ],
  when: { within: { seconds: 2592000 }, conditions: [{ aggregate: 'First', name: 'from' }] },
}

/** Deposits to customers, of a watch list. */
export const DEPOSITS = {
  targetType: 'Event',
  targetMap: [
    { name: 'event', operator: 'Equals', value: 'Transfer' },
    {
      name: 'args',
      operator: 'Inspect',
      operatorParameters: [{ name: 'to', operator: 'Equals any', value: { list: 'customers' } }],
    },
  ],
  notify: {
    quiet: { by: ['args.to', 'address'], blocks: 50 },
    group: { by: ['network'], wait: { seconds: 30 }, size: 100 },
  },
}

/** In or out of a wallet. */
export const IN_OR_OUT = {
  targetType: 'Event',
  targetMap: [
    { name: 'address', operator: 'Equals (ignore case)', value: '0x178c820f862B14f316509ec36b13123DA19A6054' },
    {
      name: 'args',
      operator: 'Inspect',
      operatorParameters: [
        { name: 'value', operator: 'Greater', value: '1' },
        {
          operator: 'Or',
          operatorParameters: [
            {
              name: 'from',
              operator: 'Equals any (ignore case)',
              value: ['0x1454168e82efA260f49a6F86612cc6414Ba633e9'],
            },
            { name: 'to', operator: 'Equals any (ignore case)', value: ['0x1454168e82efA260f49a6F86612cc6414Ba633e9'] },
          ],
        },
      ],
    },
  ],
}
