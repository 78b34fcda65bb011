package eval

// init declares the operators and casts, which what is above cannot do without. Functions are declared by
// eval/library.
func init() {
	registerCastVariant()
	registerKernelLike()
	registerOpArith()
	registerOpArray()
	registerOpCompare()
	registerOpText()
	registerOpTime()
	registerTimePrecision()
}
