/** An owner changes, then code is upgraded within 300 blocks, without a timelock. */
export const CHANGED_THEN_UPGRADED = {
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: 'OwnershipTransferred' }],
  when: {
    steps: [
      { by: ['address'] },
      {
        targetType: 'Event',
        targetMap: [{ name: 'event', operator: 'Equals', value: 'Upgraded' }],
        by: ['address'],
      },
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
    within: { seconds: 259_200 },
  },
}
