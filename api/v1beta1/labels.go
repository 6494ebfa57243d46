package v1beta1

// LabelPool holds, on a Runner, the name of its Pool where that name fits a label value (63 characters). It serves
// clients that cannot use the field selector status.poolId.
const LabelPool = Group + "/pool"
